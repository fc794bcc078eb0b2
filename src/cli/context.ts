import type { Forkpoint, OpenOptions } from '../index.ts'
import type { Cli, Streams } from './cli.ts'
import { type Globals, openOptions } from './globals.ts'
import { renderError } from './render/error.ts'
import { withProgress } from './render/progress.ts'
import { type Style, styleFor } from './render/style.ts'
import { say, write, writeJson } from './write.ts'

/** What a command has to say, to a program and to a person. */
export interface Report {
  readonly json: unknown
  /** without the last line end; nothing is printed if it is empty */
  readonly text: (style: Style) => string
  /** in place of the text where a file or another program takes it, and every byte counts */
  readonly exact?: string | undefined
}

/** What a verb's action works with. */
export class Context {
  readonly globals: Globals
  readonly #cli: Cli
  #opened: Forkpoint | null = null

  constructor(cli: Cli, globals: Globals) {
    this.#cli = cli
    this.globals = globals
  }

  get streams(): Streams {
    return this.#cli.streams
  }

  get openOptions(): OpenOptions {
    return openOptions(this.globals)
  }

  /** Loads the engine only now: help, completion and configuration do without. */
  async open(): Promise<Forkpoint> {
    const { Forkpoint } = await import('../index.ts')
    // A command ends before it could use what it prepared.
    this.#opened = await Forkpoint.open({ ...this.openOptions, spares: 'borrowed' })
    return this.#opened
  }

  /** Says what went wrong beside what was asked for. */
  async tellWarnings(): Promise<void> {
    for (const warning of this.#opened?.warnings() ?? []) await this.tell(warning)
  }

  /** Prints the result; once, so that `--json` is one document. */
  async show(report: Report): Promise<void> {
    const { stdout } = this.streams
    if (this.globals.json) {
      this.#cli.documentIsOut = true
      return await writeJson(stdout, report.json)
    }
    if (report.exact !== undefined && stdout.isTTY !== true) {
      return await write(stdout, report.exact)
    }
    const text = report.text(styleFor(stdout, this.globals))
    if (text !== '') await say(stdout, `${text}\n`)
  }

  /** Says what failed beside what was done; the result is shown all the same. */
  async tell(error: unknown): Promise<void> {
    const { stderr } = this.streams
    await say(stderr, `${renderError(error, styleFor(stderr, this.globals))}\n`)
  }

  /** Says what takes so long, to a person who waits for it. */
  wait<T>(doing: string, work: (say: (doing: string) => void) => Promise<T>): Promise<T> {
    return withProgress(this.streams.stderr, doing, work)
  }

  /** For commands that pass another program's exit code on. */
  endWith(exitCode: number): void {
    this.#cli.exitCode = exitCode
  }
}
