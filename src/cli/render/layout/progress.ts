import { printable } from '../../../model/text/printable.ts'
import { formatBytes } from '../../../model/values/quantities.ts'
import type { Screen } from '../../streams.ts'

/** Shorter waits need no progress. */
const quietMs = 1000
const frameMs = 120
/** Between two lines where there is no terminal to redraw. */
const lineMs = 2000
const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
/** Clears the line that the cursor is in. */
export const clearLine = '\r\u001b[K'

/** How much of some work is done. */
export interface Amount {
  readonly doneBytes: number
  /** null if nobody knows */
  readonly totalBytes?: number | null
  /** the total is the most it can be */
  readonly atMost?: true
}

export type Say = (doing: string, amount?: Amount) => void

/**
 * Runs `work`; if it takes long, a line on the terminal says what is happening. Where there is no terminal,
 * work that has an amount writes a line now and then.
 */
export async function withProgress<T>(
  screen: Screen,
  doing: string,
  work: (say: Say) => Promise<T>,
): Promise<T> {
  const startedAt = performance.now()
  let [current, amount]: [string, Amount | undefined] = [doing, undefined]
  const draw = screen.isTTY === true ? redraw(screen) : newLine(screen)
  const timer = setInterval(() => {
    const elapsedMs = performance.now() - startedAt
    if (elapsedMs >= quietMs) draw.draw(current, amount, elapsedMs)
  }, draw.everyMs)
  try {
    return await work((next, nextAmount) => {
      current = next
      amount = nextAmount
    })
  } finally {
    clearInterval(timer)
    draw.end()
  }
}

interface Drawing {
  readonly everyMs: number
  draw(doing: string, amount: Amount | undefined, elapsedMs: number): void
  end(): void
}

function redraw(screen: Screen): Drawing {
  let frame = 0
  return {
    everyMs: frameMs,
    draw: (doing, amount, elapsedMs) => {
      frame += 1
      const line = `${frames[frame % frames.length]} ${described(doing, amount, elapsedMs)}`
      // A longer line would wrap, and only its last row would be cleared.
      screen.write(clearLine + line.slice(0, Math.max(1, (screen.columns ?? 80) - 1)))
    },
    end: () => {
      if (frame > 0) screen.write(clearLine)
    },
  }
}

function newLine(screen: Screen): Drawing {
  return {
    everyMs: lineMs,
    draw: (doing, amount, elapsedMs) => {
      if (amount !== undefined) screen.write(`forkpoint: ${described(doing, amount, elapsedMs)}\n`)
    },
    end: () => {},
  }
}

/** `copying app: 1.2 GiB of 4.0 GiB, 30 %, 210 MiB/s (6 s)` */
export function described(doing: string, amount: Amount | undefined, elapsedMs: number): string {
  const since = `(${Math.floor(elapsedMs / 1000)} s)`
  if (amount === undefined) return `${printable(doing)} ${since}`
  const { doneBytes, totalBytes = null, atMost } = amount
  const rate = `${formatBytes((doneBytes / Math.max(elapsedMs, 1)) * 1000)}/s`
  // It may have grown since it was counted, and memory may be written more than once.
  if (totalBytes === null || totalBytes < doneBytes || totalBytes === 0) {
    return `${printable(doing)}: ${formatBytes(doneBytes)}, ${rate} ${since}`
  }
  const percent = Math.floor((doneBytes / totalBytes) * 100)
  const of = `${formatBytes(doneBytes)} of ${atMost ? 'at most ' : ''}${formatBytes(totalBytes)}`
  return `${printable(doing)}: ${of}, ${percent} %, ${rate} ${since}`
}
