import type { EnvironmentInfo, EnvironmentStatus } from '../../index.ts'
import { formatAge } from '../../model/quantities.ts'
import { formatSource } from '../../model/source.ts'
import type { Style } from './style.ts'
import { type Column, table } from './table.ts'

/** What a person calls it. */
export function labelOf(info: { readonly id: string; readonly name: string | null }): string {
  return info.name === null ? info.id : `${info.name} (${info.id})`
}

export function environmentTable(
  environments: readonly EnvironmentInfo[],
  nowMs: number,
  style: Style,
): string {
  const columns: readonly Column<EnvironmentInfo>[] = [
    { title: 'NAME', cell: ({ name }) => name ?? '-', paint: (text) => style.strong(text) },
    { title: 'ID', cell: ({ id }) => id },
    { title: 'STATUS', cell: ({ status }) => status, paint: paintStatus },
    { title: 'BACKEND', cell: ({ backend }) => backend },
    { title: 'NET', cell: ({ net }) => net.mode },
    { title: 'AGE', cell: ({ createdAt }) => formatAge(createdAt, nowMs) },
    { title: 'SOURCE', cell: ({ source }) => formatSource(source) },
  ]
  return table(columns, environments, style)
}

function paintStatus(text: string, { status }: EnvironmentInfo, style: Style): string {
  return paints[status](style)(text)
}

const paints: Record<EnvironmentStatus, (style: Style) => (text: string) => string> = {
  creating: (style) => style.doubtful,
  running: (style) => style.good,
  paused: (style) => style.doubtful,
  dead: (style) => style.bad,
  removing: (style) => style.doubtful,
}
