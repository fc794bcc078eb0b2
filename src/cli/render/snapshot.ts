import type { SnapshotInfo } from '../../index.ts'
import { formatAge, formatBytes, formatDuration } from '../../model/values/quantities.ts'
import { nameColumns } from './environment.ts'
import type { Style } from './layout/style.ts'
import { type Column, table } from './layout/table.ts'

export interface ShownSnapshot extends SnapshotInfo {
  /** name of the environment it was taken of; null if that has none or was removed */
  readonly environment: string | null
}

export function snapshotTable(
  snapshots: readonly ShownSnapshot[],
  nowMs: number,
  style: Style,
): string {
  const columns: readonly Column<ShownSnapshot>[] = [
    ...nameColumns(style),
    { title: 'STATUS', cell: statusOf, paint: (text, { status }) => paints[status](style)(text) },
    { title: 'PROOF', cell: ({ proof }) => proof, drop: 4 },
    { title: 'OF', cell: ({ environment, environmentId }) => environment ?? environmentId },
    { title: 'PARENT', cell: ({ parent }) => parent ?? '-', drop: 0 },
    { title: 'AGE', cell: ({ createdAt }) => formatAge(createdAt, nowMs) },
    { title: 'SIZE', cell: ({ sizes }) => sizeOf(sizes) },
    { title: 'PAUSE', cell: ({ timing }) => formatDuration(timing.pauseMs), drop: 2 },
    { title: 'HOLDS', cell: ({ captured }) => captured.join('+') || '-', drop: 3 },
    { title: 'MESSAGE', cell: ({ message }) => message },
  ]
  return table(columns, snapshots, style)
}

function statusOf({ status, durable }: ShownSnapshot): string {
  return status === 'ready' && durable ? 'durable' : status
}

function sizeOf({ filesBytes, imagesBytes }: SnapshotInfo['sizes']): string {
  return filesBytes === null ? '?' : formatBytes(filesBytes + imagesBytes)
}

const paints: Record<SnapshotInfo['status'], (style: Style) => (text: string) => string> = {
  writing: (style) => style.doubtful,
  ready: (style) => style.good,
  failed: (style) => style.bad,
}
