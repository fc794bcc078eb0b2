import type { CachedImage, EnvironmentUsage, SnapshotUsage, Usage } from '../../index.ts'
import { printable } from '../../model/text/printable.ts'
import { formatBytes } from '../../model/values/quantities.ts'
import { keyValues } from './layout/key-values.ts'
import type { Style } from './layout/style.ts'
import { type Column, table } from './layout/table.ts'

/** Usage of snapshots, of environments, and in total. */
export function renderUsage(usage: Usage, style: Style): string {
  const { snapshots, environments, containerImages, totals } = usage
  const parts = [
    ...(snapshots.length > 0 ? [table(snapshotColumns(style), snapshots, style)] : []),
    ...(environments.length > 0 ? [table(environmentColumns(style), environments, style)] : []),
    ...(containerImages.length > 0 ? [imageTable(containerImages, style)] : []),
    keyValues(
      [
        ['snapshots', `${formatBytes(totals.snapshotBytes)} on disk${uncounted(totals.uncounted)}`],
        ['environments', `${formatBytes(totals.environmentBytes)} of changed files on disk`],
        ['memory', `${formatBytes(totals.memoryBytes)} of their own${spares(totals.sparesBytes)}`],
        ...images(totals.containerImageBytes, containerImages),
      ],
      style,
    ),
  ]
  return parts.join('\n\n')
}

/** The container images of a home. */
export function imageTable(images: readonly CachedImage[], style: Style): string {
  const columns: readonly Column<CachedImage>[] = [
    {
      title: 'IMAGE',
      cell: ({ names, id }) => printable(names[0] ?? id),
      paint: (text) => style.strong(text),
    },
    { title: 'ID', cell: ({ id }) => id.replace('sha256:', '').slice(0, 12) },
    { title: 'IN THE HOME', cell: ({ bytes }) => formatBytes(bytes) },
    { title: 'KEPT ELSEWHERE', cell: ({ heldBytes }) => formatBytes(heldBytes) },
  ]
  return table(columns, images, style)
}

function images(bytes: number, list: readonly CachedImage[]): [string, string][] {
  return list.length === 0 ? [] : [['images', `${formatBytes(bytes)} on disk in the home`]]
}

function snapshotColumns(style: Style): readonly Column<SnapshotUsage>[] {
  return [
    { title: 'SNAPSHOT', cell: ({ name, id }) => name ?? id, paint: (text) => style.strong(text) },
    { title: 'OWN', cell: ({ ownBytes }) => bytes(ownBytes) },
    { title: 'FILES', cell: ({ filesBytes }) => bytes(filesBytes) },
    { title: 'SQUASHED', cell: ({ squashedBytes }) => formatBytes(squashedBytes) },
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
  return bytes > 0 ? `, ${formatBytes(bytes)} of it for spares` : ''
}
