import { counted } from '../../model/text/counted.ts'
import { formatBytes } from '../../model/values/quantities.ts'
import type { TopRow, TopView } from '../top/measure.ts'
import { nameColumns, paintStatus } from './environment.ts'
import type { Style } from './layout/style.ts'
import { type Column, table } from './layout/table.ts'

/** A line of sums, and a table of environments. */
export function renderTop({ rows }: TopView, style: Style): string {
  if (rows.length === 0) return style.faint('no environments; `forkpoint create` makes one')
  const columns: readonly Column<TopRow>[] = [
    ...nameColumns(style),
    {
      title: 'STATUS',
      cell: ({ status }) => status,
      paint: (text, { status }) => paintStatus(status, style)(text),
    },
    { title: 'CPU', cell: ({ cpus }) => known(cpus, percent) },
    { title: 'MEMORY', cell: memoryOf },
    { title: 'OWN', cell: ({ ownBytes }) => known(ownBytes, formatBytes) },
    { title: 'SHARED', cell: ({ sharedBytes }) => known(sharedBytes, formatBytes) },
    { title: 'PROCS', cell: ({ processes }) => known(processes, String) },
    { title: 'FILES', cell: ({ diskBytes }) => known(diskBytes, formatBytes) },
    { title: 'OPERATION', cell: ({ operations }) => operations.join(', ') || '-' },
  ]
  return `${summary(rows)}\n\n${table(columns, rows, style)}`
}

function summary(rows: readonly TopRow[]): string {
  const running = rows.filter(({ status }) => status === 'running').length
  const operations = rows.reduce((sum, row) => sum + row.operations.length, 0)
  const cpus = rows.reduce((sum, row) => sum + (row.cpus ?? 0), 0)
  const own = rows.reduce((sum, { ownBytes }) => sum + (ownBytes ?? 0), 0)
  const parts = [
    `${counted(rows.length, 'environment')}, ${running} running`,
    `${percent(cpus)} CPU`,
    `${formatBytes(own)} of memory`,
    `${counted(operations, 'operation')} under way`,
  ]
  return parts.join(' · ')
}

function memoryOf({ memoryBytes, memoryLimitBytes }: TopRow): string {
  if (memoryBytes === null || memoryLimitBytes === null) return known(memoryBytes, formatBytes)
  return `${formatBytes(memoryBytes)} of ${formatBytes(memoryLimitBytes)}`
}

function known(value: number | null, format: (value: number) => string): string {
  return value === null ? '-' : format(value)
}

function percent(cpus: number): string {
  return `${Math.round(cpus * 100)} %`
}
