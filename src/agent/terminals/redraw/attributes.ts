import type headless from '@xterm/headless'

export type Cell = headless.IBufferCell

/** The sequence that selects the colours and attributes of a cell, whatever was selected before. */
export function attributesOf(cell: Cell): string {
  if (cell.isAttributeDefault()) return '\u001b[0m'
  return `\u001b[${['0', ...styles(cell), ...foreground(cell), ...background(cell)].join(';')}m`
}

function styles(cell: Cell): string[] {
  const all: readonly [number, string][] = [
    [cell.isBold(), '1'],
    [cell.isDim(), '2'],
    [cell.isItalic(), '3'],
    [cell.isUnderline(), '4'],
    [cell.isBlink(), '5'],
    [cell.isInverse(), '7'],
    [cell.isInvisible(), '8'],
    [cell.isStrikethrough(), '9'],
    [cell.isOverline(), '53'],
  ]
  return all.flatMap(([isOn, code]) => (isOn === 0 ? [] : [code]))
}

function foreground(cell: Cell): string[] {
  if (cell.isFgRGB()) return ['38', '2', ...rgb(cell.getFgColor())]
  return cell.isFgPalette() ? palette(cell.getFgColor(), 30) : []
}

function background(cell: Cell): string[] {
  if (cell.isBgRGB()) return ['48', '2', ...rgb(cell.getBgColor())]
  return cell.isBgPalette() ? palette(cell.getBgColor(), 40) : []
}

/** `base` is 30 for the foreground, 40 for the background; terminals with 16 colours know only short forms. */
function palette(color: number, base: number): string[] {
  if (color < 8) return [String(base + color)]
  return color < 16 ? [String(base + 52 + color)] : [String(base + 8), '5', String(color)]
}

function rgb(color: number): string[] {
  return [color >> 16, color >> 8, color].map((part) => String(part & 0xff))
}
