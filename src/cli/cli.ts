import type { Writable } from 'node:stream'
import type { Command } from 'commander'
import { Context } from './context.ts'
import { readGlobals } from './globals.ts'

export type Screen = Writable & { readonly isTTY?: boolean; readonly columns?: number }

/** How wide it is; undefined if it is no terminal, or one that does not say. */
export function columnsOf({ columns }: Screen): number | undefined {
  return columns === 0 ? undefined : columns
}

export interface Streams {
  readonly stdout: Screen
  readonly stderr: Screen
}

/** One command line from start to end: where it writes, and how it ended. */
export class Cli {
  readonly streams: Streams
  /** of a command that did not fail; only those that pass another program's on set it */
  exitCode = 0
  /** whether the one document of `--json` is already out */
  documentIsOut = false

  constructor(streams: Streams) {
    this.streams = streams
  }

  /** What every verb's action calls. */
  async perform(command: Command, work: (context: Context) => Promise<void>): Promise<void> {
    const context = new Context(this, readGlobals(command))
    try {
      await work(context)
    } finally {
      await context.tellWarnings()
    }
  }
}
