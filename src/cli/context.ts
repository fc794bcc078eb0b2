import type { Forkpoint, OpenOptions } from '../index.ts'
import { type Globals, openOptions } from './arguments/globals.ts'
import type { Cli } from './cli.ts'
import { requireStore } from './hosts/require-store.ts'
import { renderError } from './render/error.ts'
import { type Say, withProgress } from './render/layout/progress.ts'
import { type Style, styleFor } from './render/layout/style.ts'
import type { Streams } from './streams.ts'
import { say, write, writeJson } from './write.ts'

/** The result of a command, for a program and for a person. */
export interface Report {
  readonly json: unknown
  /** without the last line end; nothing is printed if it is empty */
  readonly text: (style: Style) => string
  /** replaces the text if the output is a file or a pipe, where every byte counts */
  readonly exact?: string | undefined
}

/** What a verb's action works with. */
export class Context {
  readonly globals: Globals
  readonly #cli: Cli
  readonly #verb: string
  #opened: Forkpoint | null = null

  constructor(cli: Cli, globals: Globals, verb: string) {
    this.#cli = cli
    this.#verb = verb
    this.globals = globals
  }

  get streams(): Streams {
    return this.#cli.streams
  }

  get openOptions(): OpenOptions {
    return openOptions(this.globals)
  }

  /**
   * Uses a daemon if there is one. Otherwise loads the engine, but only now: few commands need it. Most
   * commands end before they could use spares of their own.
   */
  async open(spares: 'prepared' | 'borrowed' = 'borrowed'): Promise<Forkpoint> {
    const { chosenHost } = await import('./hosts/chosen-host.ts')
    const host = await chosenHost(this.globals)
    if (host !== null) {
      const { address, ...options } = host
      const { connect } = await import('../client/connect.ts')
      return await connect(address, options)
    }
    await requireStore(this, this.#verb)
    const { Forkpoint } = await import('../index.ts')
    this.#opened = await Forkpoint.open({ ...this.openOptions, spares })
    return this.#opened
  }

  /** Reports problems of the engine in this process that have nothing to do with the command itself. */
  async reportWarnings(): Promise<void> {
    const warnings = (await this.#opened?.warnings()) ?? []
    for (const warning of warnings) await this.report(warning)
  }

  /** Prints the result; once, so that `--json` is one document. */
  async show(report: Report): Promise<void> {
    const { stdout } = this.streams
    if (this.globals.json) {
      this.#cli.hasWrittenDocument = true
      return await writeJson(stdout, report.json)
    }
    if (report.exact !== undefined && stdout.isTTY !== true) {
      return await write(stdout, report.exact)
    }
    const text = report.text(styleFor(stdout, this.globals))
    if (text !== '') await say(stdout, `${text}\n`)
  }

  /** Reports a partial failure; the result is still shown. */
  async report(error: unknown): Promise<void> {
    const { stderr } = this.streams
    await say(stderr, `${renderError(error, styleFor(stderr, this.globals))}\n`)
  }

  /** Shows progress to a person who waits. */
  wait<T>(doing: string, work: (say: Say) => Promise<T>): Promise<T> {
    return withProgress(this.streams.stderr, doing, work)
  }

  /** For commands that pass another program's exit code on. */
  endWith(exitCode: number): void {
    this.#cli.exitCode = exitCode
  }
}
