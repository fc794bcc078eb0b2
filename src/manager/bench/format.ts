import { printable } from '../../model/text/printable.ts'
import { formatBytes, formatDuration } from '../../model/values/quantities.ts'
import type { ManagedSnapshot } from '../tree/nodes.ts'
import { type ManagerStats, type OperationSummary, titleOf } from './manager-stats.ts'
import type { ManagerOperation } from './operation-log.ts'
import type { Statistics } from './statistics.ts'

const titles = ['', 'COUNT', 'MEAN', 'MEDIAN', 'MIN', 'MAX', 'P95', 'TOTAL']

/** The benchmark log as text: all environments together, then each. */
export function formatStats({ all, environments }: ManagerStats): string {
  const each = Object.entries(environments).map(([id, { branch, ...summary }]) => [
    `${branch} (${id})`,
    summary,
  ]) as [string, OperationSummary][]
  const parts: [string, OperationSummary][] = [
    ['all environments', all],
    ...(each.length > 1 ? each : []),
  ]
  return parts
    .map(([title, summary]) => `${printable(title)}\n${summaryText(summary)}`)
    .join('\n\n')
}

function summaryText({ time, storage, failed }: OperationSummary): string {
  const rows = [
    ...Object.entries(time).map(([name, statistics]) => row(name, statistics)),
    ...Object.entries(storage).map(([kind, statistics]) => row(`size (${kind})`, statistics)),
  ]
  const lines = rows.length === 0 ? ['  nothing yet'] : columns([titles, ...rows])
  return [...lines, ...(failed > 0 ? [`  failed: ${failed}`] : [])].join('\n')
}

function row(name: string, { count, unit, ...values }: Statistics): string[] {
  const { mean, median, min, max, p95, total } = values
  const format = unit === 'ms' ? formatDuration : (bytes: number) => formatBytes(Math.round(bytes))
  return [name, String(count), ...[mean, median, min, max, p95, total].map(format)]
}

/** One line per operation, oldest first. */
export function formatHistory(entries: readonly ManagerOperation[]): string {
  if (entries.length === 0) return 'nothing yet'
  const rows = entries.map((entry) => [
    new Date(entry.at).toISOString().slice(11, 23),
    titleOf(entry),
    printable(entry.branch),
    entry.snapshot ?? '-',
    formatDuration(entry.ms),
    entry.outcome === 'done' ? '' : entry.outcome,
  ])
  return columns([['TIME', 'OPERATION', 'BRANCH', 'SNAPSHOT', 'TOOK', ''], ...rows]).join('\n')
}

/** What each snapshot takes on disk, and all together. */
export function formatStorage(snapshots: readonly ManagedSnapshot[]): string {
  if (snapshots.length === 0) return 'no snapshots yet'
  const rows = snapshots.map(({ id, name, kind, bytes }) => [
    id,
    printable(name ?? '-'),
    kind,
    bytes === null ? 'not counted yet' : formatBytes(bytes),
  ])
  const total = snapshots.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0)
  return [
    ...columns([['SNAPSHOT', 'NAME', 'KIND', 'SIZE'], ...rows]),
    `total: ${formatBytes(total)}`,
  ].join('\n')
}

function columns(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, index) =>
    Math.max(...rows.map((cells) => (cells[index] ?? '').length)),
  )
  return rows.map((cells) =>
    `  ${cells.map((cell, index) => cell.padEnd(widths[index] ?? 0)).join('  ')}`.trimEnd(),
  )
}
