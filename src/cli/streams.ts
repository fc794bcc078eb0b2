import type { Writable } from 'node:stream'

export type Screen = Writable & { readonly isTTY?: boolean; readonly columns?: number }

/** Columns; undefined if it is not a terminal, or if it does not report them. */
export function columnsOf({ columns }: Screen): number | undefined {
  return columns === 0 ? undefined : columns
}

export interface Streams {
  readonly stdout: Screen
  readonly stderr: Screen
}
