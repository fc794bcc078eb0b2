import { createHash } from 'node:crypto'
import { basename, dirname, join } from 'node:path'
import { isSnapshotId, type SnapshotId } from '../../../../model/ids.ts'
import type { Layer } from '../../cell/cell.ts'

/**
 * A sealed layer is named for its snapshot, `ID`. One that was made of several is `ID.COUNT-DIGEST`:
 * the snapshot of the topmost of them, how many sealed ones it stands for, and a digest of the names
 * of those it was made of. The same members always give the same name, and the same files.
 *
 * Whatever lists it comes from that snapshot, so it lives as long as that does, like a sealed one.
 */
export interface LayerName {
  readonly owner: SnapshotId
  /** sealed layers that it stands for */
  readonly count: number
}

const squashedShape = /^([^.]+)\.(\d+)-[0-9a-f]{16}$/

/** Null for a layer that no snapshot made: agent, mask, base. */
export function parseLayerName(name: string): LayerName | null {
  if (isSnapshotId(name)) return { owner: name, count: 1 }
  const [, owner, count] = squashedShape.exec(name) ?? []
  return isSnapshotId(owner) ? { owner, count: Number(count) } : null
}

export function nameOf({ path }: Layer): LayerName | null {
  return parseLayerName(basename(path))
}

/** The layer that these become, topmost first; they lie side by side, and so does it. */
export function squashedLayer(members: readonly [Layer, ...Layer[]]): Layer {
  const names = members.map(nameOf)
  const count = names.reduce((sum, name) => sum + (name?.count ?? 0), 0)
  const digest = createHash('sha256').update(members.map(({ path }) => basename(path)).join('\n'))
  const name = `${names[0]?.owner}.${count}-${digest.digest('hex').slice(0, 16)}`
  return { path: join(dirname(members[0].path), name), ids: 'cell' }
}
