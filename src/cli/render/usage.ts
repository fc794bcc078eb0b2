import type { EnvironmentUsage, SnapshotUsage, Usage } from '../../index.ts'
import { formatBytes } from '../../model/quantities.ts'
import { keyValues } from './key-values.ts'
import type { Style } from './style.ts'
import { type Column, table } from './table.ts'

/** What snapshots take, what environments take, and both together. */
export function renderUsage(usage: Usage, style: Style): string {
  const { snapshots, environments, totals } = usage
  const parts = [
    ...(snapshots.length > 0 ? [table(snapshotColumns(style), snapshots, style)] : []),
    ...(environments.length > 0 ? [table(environmentColumns(style), environments, style)] : []),
    keyValues(
      [
        ['snapshots', `${formatBytes(totals.snapshotBytes)} on disk${uncounted(totals.uncounted)}`],
        ['environments', `${formatBytes(totals.environmentBytes)} of changed files on disk`],
        ['memory', `${formatBytes(totals.memoryBytes)} of their own${spares(totals.sparesBytes)}`],
      ],
      style,
    ),
  ]
  return parts.join('\n\n')
}

function snapshotColumns(style: Style): readonly Column<SnapshotUsage>[] {
  return [
    { title: 'SNAPSHOT', cell: ({ name, id }) => name ?? id, paint: (text) => style.strong(text) },
    { title: 'OWN', cell: ({ ownBytes }) => bytes(ownBytes) },
    { title: 'FILES', cell: ({ filesBytes }) => bytes(filesBytes) },
    { title: 'MERGED', cell: ({ squashedBytes }) => formatBytes(squashedBytes) },
    { title: 'MEMORY', cell: ({ imagesBytes }) => formatBytes(imagesBytes) },
    { title: 'SHARED', cell: ({ sharedBytes }) => bytes(sharedBytes) },
    { title: 'UNIQUE', cell: ({ uniqueBytes }) => bytes(uniqueBytes) },
  ]
}

function environmentColumns(style: Style): readonly Column<EnvironmentUsage>[] {
  return [
    {
      title: 'ENVIRONMENT',
      cell: ({ name, id }) => name ?? id,
      paint: (text) => style.strong(text),
    },
    { title: 'STATUS', cell: ({ status }) => status },
    { title: 'CHANGED FILES', cell: ({ diskBytes }) => bytes(diskBytes) },
    { title: 'MEMORY', cell: ({ memoryBytes }) => bytes(memoryBytes) },
  ]
}

function bytes(value: number | null): string {
  return value === null ? '?' : formatBytes(value)
}

function uncounted(count: number): string {
  return count === 0 ? '' : `, files of ${count} not counted yet`
}

function spares(bytes: number): string {
  return bytes > 0 ? `, ${formatBytes(bytes)} of it for branches that are kept ready` : ''
}
