import { printable } from '../../../model/text/printable.ts'
import type { Style } from './style.ts'
import { width } from './text.ts'

export interface Column<Row> {
  readonly title: string
  readonly cell: (row: Row) => string
  /** on a narrow terminal, the column with the lowest number goes first; absent: it always stays */
  readonly drop?: number
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
  const cells = rows.map((row) => columns.map((column) => printable(column.cell(row))))
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
  const sized = columns.map((column) => ({ column, width: widthOf(column, rows) }))
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

function widthOf<Row>({ title, cell }: Column<Row>, rows: readonly Row[]): number {
  return rows.reduce((widest, row) => Math.max(widest, width(printable(cell(row)))), width(title))
}
