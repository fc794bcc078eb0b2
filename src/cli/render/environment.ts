import type { EnvironmentInfo, EnvironmentStatus } from '../../index.ts'
import { formatSource } from '../../model/source.ts'
import { printable } from '../../model/text/printable.ts'
import { formatAge } from '../../model/values/quantities.ts'
import type { Style } from './layout/style.ts'
import { type Column, table } from './layout/table.ts'

export interface Named {
  readonly id: string
  readonly name: string | null
}

/** What a person calls it. */
export function labelOf(info: Named): string {
  return printable(info.name === null ? info.id : `${info.name} (${info.id})`)
}

/** One without a name goes by its id, because the column of ids is the first that a terminal has no room for. */
export function nameColumns(style: Style): readonly Column<Named>[] {
  return [
    { title: 'NAME', cell: ({ name, id }) => name ?? id, paint: (text) => style.strong(text) },
    { title: 'ID', cell: ({ name, id }) => (name === null ? '' : id), drop: 1 },
  ]
}

export function environmentTable(
  environments: readonly EnvironmentInfo[],
  nowMs: number,
  style: Style,
): string {
  const columns: readonly Column<EnvironmentInfo>[] = [
    ...nameColumns(style),
    {
      title: 'STATUS',
      cell: ({ status }) => status,
      paint: (text, row) => paintStatus(row.status, style)(text),
    },
    { title: 'BACKEND', cell: ({ backend }) => backend, drop: 2 },
    { title: 'NET', cell: ({ net }) => net.mode },
    { title: 'AGE', cell: ({ createdAt }) => formatAge(createdAt, nowMs) },
    { title: 'SOURCE', cell: ({ source }) => formatSource(source) },
  ]
  return table(columns, environments, style)
}

export function paintStatus(status: EnvironmentStatus, style: Style): (text: string) => string {
  return paints[status](style)
}

const paints: Record<EnvironmentStatus, (style: Style) => (text: string) => string> = {
  creating: (style) => style.doubtful,
  running: (style) => style.good,
  released: (style) => style.faint,
  paused: (style) => style.doubtful,
  dead: (style) => style.bad,
  removing: (style) => style.doubtful,
}
