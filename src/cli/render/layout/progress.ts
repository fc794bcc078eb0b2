import { printable } from '../../../model/text/printable.ts'
import type { Screen } from '../../screen.ts'

/** Shorter waits need no progress. */
const quietMs = 1000
const frameMs = 120
const frames = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const clearLine = '\r\u001b[K'

/** Runs `work`; if it takes long, a line on the terminal says what is happening. */
export async function withProgress<T>(
  screen: Screen,
  doing: string,
  work: (say: (doing: string) => void) => Promise<T>,
): Promise<T> {
  if (screen.isTTY !== true) return await work(() => {})
  const startedAt = performance.now()
  let current = doing
  let frame = 0
  const draw = () => {
    const elapsedMs = performance.now() - startedAt
    if (elapsedMs < quietMs) return
    frame += 1
    const line = `${frames[frame % frames.length]} ${printable(current)} (${Math.floor(elapsedMs / 1000)} s)`
    // A longer line would wrap, and only its last row would be cleared.
    screen.write(clearLine + line.slice(0, Math.max(1, (screen.columns ?? 80) - 1)))
  }
  const timer = setInterval(draw, frameMs)
  try {
    return await work((next) => {
      current = next
    })
  } finally {
    clearInterval(timer)
    if (frame > 0) screen.write(clearLine)
  }
}
