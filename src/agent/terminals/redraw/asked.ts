import type headless from '@xterm/headless'
import { attributesOf } from './attributes.ts'

/** Modes that programs rely on and the emulator knows: keys, wrapping, cursor, mouse, focus, paste. */
const privateModes = [1, 7, 12, 25, 45, 66, 9, 1000, 1002, 1003, 1004, 1006, 1016, 2004]
/** Insert mode, and line feed with carriage return. */
const ansiModes = [4, 20]

/** A cursor with what is saved along with it. */
export interface Pen {
  readonly col: number
  readonly row: number
  /** the sequence that selects its colours and attributes */
  readonly attributes: string
}

export interface Asked {
  /** sequences that switch each mode on or off */
  readonly modes: string
  /** rows are counted from the top margin */
  readonly originMode: boolean
  readonly margins: { readonly top: number; readonly bottom: number }
  readonly tabStops: readonly number[]
  readonly charsets: string
  readonly pen: Pen
  readonly saved: Pen
}

/** Asks an emulator for its state, as a program could ask a terminal. Draws on it: it is of no use afterwards. */
export async function ask(terminal: headless.Terminal): Promise<Asked> {
  const { cursorX: col, cursorY: row } = terminal.buffer.active
  const { originMode } = terminal.modes
  const modes = await askModes(terminal)
  const margins = await askMargins(terminal)
  const plain = '\u001b[?6l\u001b[?7h\u001b[4l\u001b[r'
  await written(terminal, `${plain}\u001b[Hq`)
  const attributes = cornerAttributes(terminal)
  const charsets = await askCharsets(terminal)
  await written(terminal, '\u001b8\u001b[?7h')
  const { cursorX, cursorY } = terminal.buffer.active
  await written(terminal, `${plain}\u001b[Hq`)
  const saved = { col: cursorX, row: cursorY, attributes: cornerAttributes(terminal) }
  const tabStops = await askTabStops(terminal)
  const pen = { col, row, attributes }
  return { modes, originMode, margins, tabStops, charsets, pen, saved }
}

async function askModes(terminal: headless.Terminal): Promise<string> {
  const queries = [
    ...ansiModes.map((mode) => `\u001b[${mode}$p`),
    ...privateModes.map((mode) => `\u001b[?${mode}$p`),
  ]
  const answer = await answered(terminal, queries.join(''))
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
  const states = answer.matchAll(/\u001b\[(\??\d+);([12])\$y/g)
  const sequences = [...states].map(
    ([, mode, state]) => `\u001b[${mode}${state === '1' ? 'h' : 'l'}`,
  )
  // Reporting the mouse is one mode with several names: off first, so that none ends what another began.
  const isOff = (sequence: string) => sequence.endsWith('l')
  return [...sequences.filter(isOff), ...sequences.filter((one) => !isOff(one))].join('')
}

async function askMargins(terminal: headless.Terminal): Promise<Asked['margins']> {
  const answer = await answered(terminal, '\u001bP$qr\u001b\\')
  const [, top = 1, bottom = terminal.rows] = /\$r(\d+);(\d+)r/.exec(answer) ?? []
  return { top: Number(top) - 1, bottom: Number(bottom) - 1 }
}

/** Line drawing characters are selected in one of two sets, and either set is in use. */
async function askCharsets(terminal: headless.Terminal): Promise<string> {
  const now = cornerText(terminal)
  await written(terminal, '\u001b[H\u000fq')
  const first = cornerText(terminal)
  await written(terminal, '\u001b[H\u000eq')
  const second = cornerText(terminal)
  const name = (shown: string) => (shown === 'q' ? 'B' : '0')
  const shift = now === first ? '\u000f' : '\u000e'
  return `\u001b(${name(first)}\u001b)${name(second)}${shift}`
}

async function askTabStops(terminal: headless.Terminal): Promise<number[]> {
  const answer = await answered(terminal, `\u001b[H${'\t\u001b[6n'.repeat(terminal.cols)}`)
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
  const columns = [...answer.matchAll(/\u001b\[\d+;(\d+)R/g)].map(([, col]) => Number(col) - 1)
  return [...new Set(columns)].filter((col) => col < terminal.cols - 1)
}

function cornerText(terminal: headless.Terminal): string {
  return corner(terminal)?.getChars() ?? ''
}

function cornerAttributes(terminal: headless.Terminal): string {
  const cell = corner(terminal)
  return cell === undefined ? '\u001b[0m' : attributesOf(cell)
}

function corner({ buffer }: headless.Terminal): headless.IBufferCell | undefined {
  return buffer.active.getLine(buffer.active.baseY)?.getCell(0)
}

async function answered(terminal: headless.Terminal, query: string): Promise<string> {
  let answer = ''
  const listening = terminal.onData((data) => {
    answer += data
  })
  await written(terminal, query)
  listening.dispose()
  return answer
}

function written(terminal: headless.Terminal, text: string): Promise<void> {
  return new Promise((resolve) => terminal.write(text, resolve))
}
