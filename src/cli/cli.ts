import type { Command } from 'commander'
import { readGlobals } from './arguments/globals.ts'
import { Context } from './context.ts'
import type { Streams } from './streams.ts'

/** The verb, for a command that may be below one. */
function verbOf(command: Command): string {
  const { parent } = command
  return parent?.parent ? verbOf(parent) : command.name()
}

/** One command line from start to end: where it writes, and how it ended. */
export class Cli {
  readonly streams: Streams
  /** every word of the command line */
  readonly argv: readonly string[]
  /** of a command that did not fail; 0 unless it sets another one with `endWith` */
  exitCode = 0
  /** whether the one document of `--json` has been written */
  hasWrittenDocument = false

  constructor(streams: Streams, argv: readonly string[] = []) {
    this.streams = streams
    this.argv = argv
  }

  /** What every verb's action calls. */
  async perform(command: Command, work: (context: Context) => Promise<void>): Promise<void> {
    const context = new Context(this, readGlobals(command), verbOf(command))
    try {
      await work(context)
    } finally {
      await context.reportWarnings()
    }
  }
}
