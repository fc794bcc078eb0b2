import type { Forkpoint, OpenOptions } from '../index.ts'
import type { Cli, Streams } from './cli.ts'
import { type Globals, openOptions } from './globals.ts'
import { renderError } from './render/error.ts'
import { jsonPieces } from './render/json-pieces.ts'
import { withProgress } from './render/progress.ts'
import { type Style, styleFor } from './render/style.ts'
import { write } from './write.ts'

/** What a command has to say, to a program and to a person. */
export interface Report {
  readonly json: unknown
  /** without the last line end; nothing is printed if it is empty */
  readonly text: (style: Style) => string
}

/** What a verb's action works with. */
export class Context {
  readonly globals: Globals
  readonly #cli: Cli

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
    return await Forkpoint.open({ ...this.openOptions, spares: 'borrowed' })
  }

  /** Prints the result; once, so that `--json` is one document. */
  async show(report: Report): Promise<void> {
    const { stdout } = this.streams
    if (this.globals.json) {
      this.#cli.documentIsOut = true
      for (const piece of jsonPieces(report.json)) await write(stdout, piece)
      return await write(stdout, '\n')
    }
    const text = report.text(styleFor(stdout, this.globals))
    if (text !== '') await write(stdout, `${text}\n`)
  }

  /** Says what failed beside what was done; the result is shown all the same. */
  async tell(error: unknown): Promise<void> {
    const { stderr } = this.streams
    await write(stderr, `${renderError(error, styleFor(stderr, this.globals))}\n`)
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
