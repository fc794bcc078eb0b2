import type { SnapshotInfo } from '../../../api/contract/data/snapshot.ts'
import { label } from '../labels.ts'

/** A snapshot as this wire shows it. */
export interface SnapshotJson {
  readonly tag: string
  /** paths of the daemon mean nothing to a client */
  readonly dir: ''
  readonly created_at_unix: number
  /** the sandbox; absent if it was made from files */
  readonly branched_from?: string
  readonly pause_ms?: number
  readonly status: SnapshotInfo['status']
  /** whether sandboxes can be made from it */
  readonly bootable: boolean
}

export function tagOf({ id, name }: Pick<SnapshotInfo, 'id' | 'name'>): string {
  return name ?? id
}

export function unixOf(ms: number): number {
  return Math.floor(ms / 1000)
}

export function snapshotJson(info: SnapshotInfo): SnapshotJson {
  const { status, proof, createdAt, environmentId, timing, labels } = info
  const isBase = labels[label.base] !== undefined
  return {
    tag: tagOf(info),
    dir: '',
    created_at_unix: unixOf(createdAt),
    ...(!isBase && { branched_from: environmentId, pause_ms: Math.round(timing.pauseMs) }),
    status,
    bootable: status === 'ready' && proof !== 'failed',
  }
}

/** The same with the snapshots that it builds on, and those that build on it. */
export function snapshotDetail(info: SnapshotInfo, all: readonly SnapshotInfo[]): object {
  const byId = new Map(all.map((each) => [each.id, each]))
  const ancestors: string[] = []
  for (let at = info.parent; at !== null; ) {
    const above = byId.get(at)
    if (above === undefined) break
    ancestors.unshift(tagOf(above))
    at = above.parent
  }
  const { memory, sizes } = info
  const parent = ancestors.at(-1)
  return {
    ...snapshotJson(info),
    memory_logical_bytes: (memory?.sharedBytes ?? 0) + (memory?.copiedBytes ?? 0),
    memory_physical_bytes: sizes.imagesBytes,
    vmstate_bytes: 0,
    ...(parent !== undefined && { parent_tag: parent }),
    chain_depth: ancestors.length,
    dependents: all.filter((each) => each.parent === info.id).map(tagOf),
    ancestors,
  }
}
