import { createHash } from 'node:crypto'
import { basename, dirname, join } from 'node:path'
import { isSnapshotId, type SnapshotId } from '../../../../model/ids.ts'
import type { Layer } from '../../cell/cell.ts'

/**
 * A sealed layer is named after its snapshot, `ID`. A squashed one is `ID.COUNT-DIGEST`: the snapshot of
 * its topmost member, how many sealed layers it stands for, and a digest of the names of its members. The
 * same members always give the same name and the same files.
 *
 * Every image that lists it comes from that snapshot, so it lives as long as the snapshot, like a sealed one.
 */
export interface LayerName {
  readonly owner: SnapshotId
  /** sealed layers that it stands for */
  readonly count: number
}

const squashedShape = /^([^.]+)\.(\d+)-[0-9a-f]{16}$/

/** Null for a layer that belongs to no snapshot: agent, mask, base. */
export function parseLayerName(name: string): LayerName | null {
  if (isSnapshotId(name)) return { owner: name, count: 1 }
  const [, owner, count] = squashedShape.exec(name) ?? []
  return isSnapshotId(owner) ? { owner, count: Number(count) } : null
}

export function nameOf({ path }: Layer): LayerName | null {
  return parseLayerName(basename(path))
}

/** The layer that the members, topmost first, become. It is in the same directory as they are. */
export function squashedLayer(members: readonly [Layer, ...Layer[]]): Layer {
  const names = members.map(nameOf)
  const count = names.reduce((sum, name) => sum + (name?.count ?? 0), 0)
  const digest = createHash('sha256').update(members.map(({ path }) => basename(path)).join('\n'))
  const name = `${names[0]?.owner}.${count}-${digest.digest('hex').slice(0, 16)}`
  return { path: join(dirname(members[0].path), name), ids: 'cell' }
}
