import { setTimeout as sleep } from 'node:timers/promises'
import type { Forkpoint } from '../../index.ts'
import type { Context } from '../context.ts'
import { Interrupts } from '../interrupts.ts'
import { styleFor } from '../render/layout/style.ts'
import { styledLines } from '../render/layout/text.ts'
import { renderTop } from '../render/top.ts'
import { OwnTerminal } from '../shell/own-terminal.ts'
import { measure, type TopView } from './measure.ts'

/** An alternate screen without a cursor, on which long lines are cut. The terminal knows how to undo it. */
const begin = '\u001b[?1049h\u001b[?25l\u001b[?7l'
const home = '\u001b[H'
const toLineEnd = '\u001b[K'
const toScreenEnd = '\u001b[J'
/** `q` and Ctrl-C, which a terminal in raw mode sends as a character */
const keysToLeave = ['q', '\u0003']

/** Redraws until somebody presses `q` or ends the command. */
export async function watchTop(
  context: Context,
  forkpoint: Forkpoint,
  everyMs: number,
): Promise<void> {
  using interrupts = new Interrupts()
  using terminal = OwnTerminal.take()
  const left = Promise.withResolvers<void>()
  let isLeft = false
  const leave = () => {
    isLeft = true
    left.resolve()
  }
  using _typed = terminal.onTyped(async (data) => {
    if (keysToLeave.some((key) => data.includes(key))) leave()
  })
  interrupts.signal.addEventListener('abort', leave)
  const style = styleFor(context.streams.stdout, context.globals)
  let view: TopView | null = null
  const draw = async () => {
    const text = view === null ? '' : renderTop(view, style)
    await terminal.show(Buffer.from(frame(text, terminal.size.rows)))
  }
  using _resized = terminal.onResize(() => void draw())
  await terminal.show(Buffer.from(begin))
  while (!isLeft) {
    view = await measure(forkpoint, view)
    await draw()
    await Promise.race([sleep(everyMs, undefined, { ref: true }), left.promise])
  }
}

/** Every line replaces what was there, without a flash of an empty screen. */
function frame(text: string, rows: number): string {
  const lines = styledLines(text).split('\n').slice(0, rows)
  return home + lines.map((line) => line + toLineEnd).join('\r\n') + toScreenEnd
}
