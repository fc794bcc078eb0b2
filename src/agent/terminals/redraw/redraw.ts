import type headless from '@xterm/headless'
import { type Asked, ask, type Pen } from './asked.ts'
import { type LastCharacter, lastCharacter, moveTo, screenRows, wholeBuffer } from './rows.ts'
import type { Unasked } from './unasked.ts'

/**
 * For whom a screen is drawn: `newcomer` has an empty screen and gets the lines above it too; `returning`
 * shows an earlier state, and has these lines in its own history.
 */
export type Viewer = 'newcomer' | 'returning'

/** A terminal that supports it shows the whole redraw at once. */
const together = ['\u001b[?2026h', '\u001b[?2026l'] as const
/** No margins, wrapping, replacing, no line drawing characters, no attributes. */
const plain =
  '\u001b[?6l\u001b[?69l\u001b[r\u001b[?7h\u001b[4l\u001b[20l\u001b(B\u001b)B\u000f\u001b[0m'
/** The normal screen, the default cursor, and keys and mouse as they are without a program. */
const withoutProgram =
  '\u001b[?1049l\u001b[0 q\u001b[?5l\u001b[?1005l\u001b[?1007l\u001b[?1015l\u001b[>4m\u001b[<16u'
const defaultTab = 8

/**
 * What draws the emulator's present state on another terminal: cells, cursor, modes, title. It has no
 * query, bell or anything else that a terminal would answer or do. The emulator is of no use afterwards.
 */
export async function redraw(
  terminal: headless.Terminal,
  unasked: Unasked,
  viewer: Viewer,
): Promise<string> {
  const cells = viewer === 'newcomer' ? newcomersCells(terminal) : returningCells(terminal)
  const { active } = terminal.buffer
  const line = active.getLine(active.baseY + active.cursorY)
  const last = line === undefined ? undefined : lastCharacter(line, terminal.cols)
  const state = await ask(terminal)
  const position = positionOf(state, terminal.cols, last)
  return [
    together[0],
    cells,
    tabStops(state, terminal.cols),
    savedPen(state.saved),
    unasked.sequences(),
    marginsOf(state, terminal.rows),
    // Margins and some modes move the cursor; it gets its place after them.
    state.modes,
    position,
    state.charsets,
    state.pen.attributes,
    together[1],
  ].join('')
}

function newcomersCells(terminal: headless.Terminal): string {
  const { normal } = terminal.buffer
  return `${plain}${wholeBuffer(normal, terminal.cols)}${alternateCells(terminal)}`
}

function returningCells(terminal: headless.Terminal): string {
  const { normal } = terminal.buffer
  return `${withoutProgram}${plain}${screenRows(normal, terminal)}${alternateCells(terminal)}`
}

/** The screen of a full-screen program, over the one that appears again when it ends. */
function alternateCells(terminal: headless.Terminal): string {
  const { normal, alternate, active } = terminal.buffer
  if (active.type === 'normal') return ''
  const back = moveTo(Math.min(normal.cursorX, terminal.cols - 1), normal.cursorY)
  return `${back}\u001b[?1049h\u001b[H\u001b[2J${screenRows(alternate, terminal)}`
}

function tabStops({ tabStops: stops }: Asked, cols: number): string {
  const usual = Array.from({ length: Math.ceil(cols / defaultTab) }, (_, at) => at * defaultTab)
  const usualStops = usual.filter((col) => col > 0 && col < cols - 1)
  if (stops.join() === usualStops.join()) return ''
  return `\u001b[3g${stops.map((col) => `${moveTo(col, 0)}\u001bH`).join('')}`
}

function savedPen({ col, row, attributes }: Pen): string {
  return `${moveTo(col, row)}${attributes}\u001b7\u001b[0m`
}

function marginsOf({ margins }: Asked, rows: number): string {
  const { top, bottom } = margins
  return top === 0 && bottom === rows - 1 ? '' : `\u001b[${top + 1};${bottom + 1}r`
}

function positionOf(
  { pen, originMode, margins }: Asked,
  cols: number,
  last: LastCharacter | undefined,
): string {
  const origin = originMode ? '\u001b[?6h' : ''
  const row = originMode ? Math.max(0, pen.row - margins.top) : pen.row
  // Printed again, the cursor waits there to wrap.
  if (pen.col >= cols && last !== undefined) {
    return `${origin}${moveTo(last.col, row)}${last.text}`
  }
  return `${origin}${moveTo(Math.min(pen.col, cols - 1), row)}`
}
