import { printable } from '../../../model/text/printable.ts'
import type { Style } from './style.ts'
import { width } from './text.ts'

export interface Column<Row> {
  readonly title: string
  readonly cell: (row: Row) => string
  readonly paint?: (text: string, row: Row, style: Style) => string
}

const gap = '  '

/** One line per row below a line of titles; columns are as wide as their widest cell. */
export function table<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  style: Style,
): string {
  const cells = rows.map((row) => columns.map((column) => printable(column.cell(row))))
  const widths = columns.map((column, index) =>
    Math.max(width(column.title), ...cells.map((line) => width(line[index] ?? ''))),
  )
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
