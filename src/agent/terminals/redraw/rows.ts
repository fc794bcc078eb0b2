import type headless from '@xterm/headless'
import { attributesOf } from './attributes.ts'

type Line = headless.IBufferLine

const plain = '\u001b[0m'
const eraseRest = '\u001b[K'
// biome-ignore lint/suspicious/noControlCharactersInRegex: controls are what it finds
const controls = /[\u0000-\u001f\u007f-\u009f]/g

/** Text that came from inside, without anything a terminal would obey. */
export function printed(text: string): string {
  return text.replace(controls, '')
}

export function moveTo(col: number, row: number): string {
  return `\u001b[${row + 1};${col + 1}H`
}

/** Every row of a buffer, oldest first, so that those above the screen scroll into the viewer's history. */
export function wholeBuffer(buffer: headless.IBuffer, cols: number): string {
  let text = ''
  let before: Line | undefined
  for (let at = 0; at < buffer.length; at += 1) {
    const line = buffer.getLine(at)
    if (line === undefined) continue
    // A line that goes on in the next row is printed in one piece: the viewer then wraps it by itself.
    const continues =
      line.isWrapped && before !== undefined && isFull(before, cols) && usedCells(line, cols) > 0
    if (before !== undefined && !continues) text += '\r\n'
    text += rowText(line, cols)
    before = line
  }
  return text
}

/** The rows on the screen, each at its place; the viewer's history stays as it is. */
export function screenRows(buffer: headless.IBuffer, { cols, rows }: headless.Terminal): string {
  return Array.from({ length: rows }, (_, row) => {
    const line = buffer.getLine(buffer.baseY + row)
    return `${moveTo(0, row)}${line === undefined ? eraseRest : rowText(line, cols)}`
  }).join('')
}

/** Ends with plain attributes, and the rest of the row empty. */
function rowText(line: Line, cols: number): string {
  let text = ''
  let selected = plain
  const used = usedCells(line, cols)
  for (let col = 0; col < used; col += 1) {
    const cell = line.getCell(col)
    // The second half of a wide character.
    if (cell === undefined || cell.getWidth() === 0) continue
    const wanted = attributesOf(cell)
    if (wanted !== selected) text += wanted
    selected = wanted
    text += printed(cell.getChars()) || ' '
  }
  if (selected !== plain) text += plain
  // After the last column the cursor is still on it, and erasing would take that character away.
  return isFull(line, cols) ? text : `${text}${eraseRest}`
}

/** Without the cells at the end that nothing was drawn on. */
function usedCells(line: Line, cols: number): number {
  for (let col = Math.min(cols, line.length); col > 0; col -= 1) {
    const cell = line.getCell(col - 1)
    if (cell === undefined) continue
    if (cell.getChars() !== '' || cell.getWidth() === 0 || !cell.isAttributeDefault()) return col
  }
  return 0
}

function isFull(line: Line, cols: number): boolean {
  return usedCells(line, cols) === cols
}

export interface LastCharacter {
  readonly col: number
  /** with the sequence that selects its attributes */
  readonly text: string
}

export function lastCharacter(line: Line, cols: number): LastCharacter | undefined {
  const isWide = line.getCell(cols - 1)?.getWidth() === 0
  const col = isWide ? cols - 2 : cols - 1
  const cell = line.getCell(col)
  if (cell === undefined) return undefined
  return { col, text: `${attributesOf(cell)}${printed(cell.getChars()) || ' '}` }
}
