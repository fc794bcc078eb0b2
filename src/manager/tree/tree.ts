import type { SnapshotInfo } from '../../api/contract/data/snapshot.ts'
import { NotFoundError } from '../../model/errors.ts'
import type { EnvironmentId, SnapshotId } from '../../model/ids.ts'
import { shortestIdPrefix } from '../../model/ids.ts'
import { quote } from '../../model/text/quote.ts'
import type { LoggedCommand } from '../replay/logged-command.ts'
import { label, virtualIn } from './labels.ts'
import type { ManagedSnapshot, PhysicalSnapshot } from './nodes.ts'

/** The snapshots of one session, physical and virtual. */
export interface SnapshotTree {
  /** oldest first */
  readonly nodes: readonly ManagedSnapshot[]
  /** physical snapshots that a virtual one was replayed into, by the id of the virtual one */
  readonly replays: ReadonlyMap<string, SnapshotId>
}

/** Which environments and labels belong to a session. */
export interface Membership {
  readonly session: string
  readonly environments: ReadonlySet<EnvironmentId>
}

/** Builds the tree from all snapshots of a home. */
export function treeOf(infos: readonly SnapshotInfo[], of: Membership): SnapshotTree {
  const ours = infos.filter(
    ({ labels, environmentId }) =>
      labels[label.session] === of.session || of.environments.has(environmentId),
  )
  const replays = new Map<string, SnapshotId>()
  for (const { id, labels, status } of ours) {
    const replayed = labels[label.replayOf]
    if (replayed !== undefined && status === 'ready') replays.set(replayed, id)
  }
  const byId = new Map(ours.map((info) => [info.id, info]))
  const physical = ours.filter(isShown).map((info) => physicalOf(info, byId))
  const virtual = ours.flatMap(({ id, labels }) => virtualIn(id, labels))
  const nodes = [...physical, ...virtual].sort((a, b) => a.createdAt - b.createdAt)
  return { nodes, replays }
}

/** Whether a user took it and can return to it. */
function isShown({ labels, status }: SnapshotInfo): boolean {
  const isHidden = labels[label.replayOf] !== undefined || labels[label.half] !== undefined
  return !isHidden && status !== 'failed'
}

function physicalOf(
  info: SnapshotInfo,
  byId: ReadonlyMap<SnapshotId, SnapshotInfo>,
): PhysicalSnapshot {
  const { id, name, message, createdAt, sizes } = info
  const { filesBytes, imagesBytes } = sizes
  const bytes = filesBytes === null ? null : filesBytes + imagesBytes
  return { kind: 'physical', id, name, message, parent: parentOf(info, byId), createdAt, bytes }
}

/** The nearest snapshot above that is shown. */
function parentOf(info: SnapshotInfo, byId: ReadonlyMap<SnapshotId, SnapshotInfo>): string | null {
  for (let at = info; ; ) {
    const virtual = at.labels[label.parent]
    if (virtual !== undefined) return virtual
    if (at.parent === null) return null
    const above = byId.get(at.parent)
    if (above === undefined || isShown(above)) return at.parent
    const replayed = above.labels[label.replayOf]
    if (replayed !== undefined) return replayed
    at = above
  }
}

/** By id, unique beginning of an id, or name. */
export function findIn({ nodes }: SnapshotTree, reference: string): ManagedSnapshot {
  const exact = nodes.find(({ id, name }) => id === reference || name === reference)
  if (exact !== undefined) return exact
  const near =
    reference.length < shortestIdPrefix ? [] : nodes.filter(({ id }) => id.startsWith(reference))
  const [only] = near
  if (only !== undefined && near.length === 1) return only
  const remedy = 'printSnapshotTree() or `tree` shows those that exist'
  throw new NotFoundError(`no snapshot ${quote(reference)} in this session`, { remedy })
}

/** How to get to a snapshot. */
export interface ReplayPlan {
  /** the nearest physical snapshot at or above it */
  readonly from: SnapshotId
  /** to be run after it, in this order */
  readonly commands: readonly LoggedCommand[]
}

export function planOf(tree: SnapshotTree, target: ManagedSnapshot): ReplayPlan {
  const byId = new Map(tree.nodes.map((node) => [node.id as string, node]))
  const lists: (readonly LoggedCommand[])[] = []
  let at: ManagedSnapshot | undefined = target
  while (at?.kind === 'virtual') {
    lists.push(at.commands)
    at = byId.get(at.parent)
    if (lists.length > tree.nodes.length) break
  }
  if (at === undefined || at.kind === 'virtual') {
    throw new NotFoundError(`snapshot ${target.id} builds on one that no longer exists`, {
      remedy: 'restore another snapshot',
    })
  }
  return { from: at.id, commands: lists.reverse().flat() }
}
