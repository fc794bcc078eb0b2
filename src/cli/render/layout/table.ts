import { printable } from '../../../model/text/printable.ts'
import type { Style } from './style.ts'
import { cutTo, width } from './text.ts'

export interface Column<Row> {
  readonly title: string
  readonly cell: (row: Row) => string
  /** on a narrow terminal, the column with the lowest number goes first; absent: it always stays */
  readonly drop?: number
  /** of the last column: on a narrow terminal its cells are cut, but not below this */
  readonly least?: number
  readonly paint?: (text: string, row: Row, style: Style) => string
}

const gap = '  '

/** One line per row below a line of titles; columns are as wide as their widest cell. */
export function table<Row>(
  all: readonly Column<Row>[],
  rows: readonly Row[],
  style: Style,
): string {
  const columns = fitting(all, rows, style.columns)
  const room = roomForLast(columns, rows, style.columns)
  const cut = (text: string, { least }: Column<Row>) =>
    least === undefined ? text : cutTo(text, Math.max(least, room))
  const cells = rows.map((row) => columns.map((column) => cut(printable(column.cell(row)), column)))
  const widths = columns.map((column) => widthOf(column, rows))
  const pad = (text: string, index: number) =>
    index === columns.length - 1 ? '' : ' '.repeat(Math.max(0, (widths[index] ?? 0) - width(text)))
  const head = columns.map(({ title }, index) => style.faint(title) + pad(title, index))
  const body = rows.map((row, line) =>
    columns.map((column, index) => {
      const text = cells[line]?.[index] ?? ''
      return (column.paint?.(text, row, style) ?? text) + pad(text, index)
    }),
  )
  return [head, ...body].map((line) => line.join(gap).trimEnd()).join('\n')
}

/** Without the columns that a terminal has no room for. */
function fitting<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  room = Number.POSITIVE_INFINITY,
): readonly Column<Row>[] {
  const sized = columns.map((column) => {
    const widest = widthOf(column, rows)
    return { column, width: Math.min(widest, column.least ?? widest) }
  })
  const order = sized.filter(({ column }) => column.drop !== undefined)
  order.sort((a, b) => (b.column.drop ?? 0) - (a.column.drop ?? 0))
  let kept = sized
  const isTooWide = () =>
    kept.reduce((sum, each) => sum + each.width + gap.length, -gap.length) > room
  while (order.length > 0 && isTooWide()) {
    const dropped = order.pop()
    kept = kept.filter((each) => each !== dropped)
  }
  return kept.map(({ column }) => column)
}

function roomForLast<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  room = Number.POSITIVE_INFINITY,
): number {
  const before = columns.slice(0, -1)
  return before.reduce((left, column) => left - widthOf(column, rows) - gap.length, room)
}

function widthOf<Row>({ title, cell }: Column<Row>, rows: readonly Row[]): number {
  return rows.reduce((widest, row) => Math.max(widest, width(printable(cell(row)))), width(title))
}
