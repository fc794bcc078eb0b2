import { MAX_REPLAY_BYTES } from '../wire/wire.ts'
import type { Viewer } from './redraw/redraw.ts'
import { completeBytes } from './redraw/sequences.ts'
import { drawn } from './screen.ts'
import type { TerminalSize } from './size.ts'

/** Lines above the screen that a newcomer gets. */
const HISTORY_LINES = 1000
/** Where to look for a place to begin in old output whose beginning is missing. */
const BEGIN_WITHIN = 4096

const ESC = 0x1b
const LF = 0x0a

/** Old output of a terminal. */
export interface Replay {
  readonly bytes: Buffer
  /** the size it was printed for */
  readonly drawnFor: TerminalSize
  /** the size that the terminal has now */
  readonly size: TerminalSize
}

export interface Redrawn {
  /** draws the screen that the old output led to */
  readonly screen: Buffer
  /** the beginning of a sequence or character that live output completes */
  readonly begun: Buffer
}

/**
 * The screen that old output led to, instead of the output: its queries were answered long ago, and
 * a terminal that got them again would answer again, as if somebody typed.
 */
export async function redrawn(replay: Replay, viewer: Viewer): Promise<Redrawn> {
  const complete = completeBytes(replay.bytes)
  const begun = replay.bytes.subarray(complete)
  const old = replay.bytes.subarray(beginning(replay.bytes), complete)
  if (old.length === 0 && viewer === 'newcomer') return { screen: Buffer.alloc(0), begun }
  using screen = await drawn(old, replay.drawnFor, HISTORY_LINES)
  screen.resize(replay.size)
  return { screen: await screen.redraw(viewer), begun }
}

/** If there was more than is kept, the first bytes may be the end of a sequence or character. */
function beginning(bytes: Buffer): number {
  if (bytes.length < MAX_REPLAY_BYTES) return 0
  const at = bytes.subarray(0, BEGIN_WITHIN).findIndex((byte) => byte === ESC || byte === LF)
  return Math.max(0, at)
}
