import type { Input } from '../../api/contract/contract.ts'
import type { KeepReason, PrunePlan } from '../../api/contract/data/snapshot.ts'
import type { EnvironmentRecord } from '../../model/environment.ts'
import type { SnapshotId } from '../../model/ids.ts'
import type { SnapshotRecord } from '../../model/snapshot.ts'
import { carries } from '../../model/values/labels.ts'
import { lineageOf } from './lineage.ts'

/** The rules of `prune`. It removes what no rule keeps and nothing needs. */
export type RetentionRules = Omit<Input<'snapshot.prune'>, 'dryRun'>

export type PlannedSnapshot = Pick<
  SnapshotRecord,
  'id' | 'name' | 'parent' | 'environmentId' | 'status' | 'createdAt' | 'labels'
>

export interface PlannedEnvironment extends Pick<EnvironmentRecord, 'id' | 'name' | 'head'> {
  /** the snapshots whose data its life uses, apart from its head */
  readonly needs: readonly SnapshotId[]
}

/** Everything that decides what may be removed, at one moment. */
export interface History {
  readonly snapshots: readonly PlannedSnapshot[]
  readonly environments: readonly PlannedEnvironment[]
  /** the snapshots without whose data this one is incomplete, such as those whose layers it lies over */
  needsOf(id: SnapshotId): readonly SnapshotId[]
  /** snapshots that a restore or fork is reading now */
  readonly inUse: ReadonlySet<SnapshotId>
  readonly nowMs: number
}

/**
 * Plans what `prune` removes. Whatever stays keeps those that it needs: no environment and no kept
 * snapshot ever loses a part of itself.
 */
export function planPrune(history: History, rules: RetentionRules = {}): PrunePlan {
  const lineage = lineageOf(history.snapshots)
  const considered = history.snapshots.filter(({ labels }) => carries(labels, rules.labels ?? {}))
  const reasons = new Map<SnapshotId, KeepReason>()
  const keep = (id: SnapshotId, reason: KeepReason) => {
    if (lineage.get(id) === undefined || reasons.has(id)) return
    reasons.set(id, reason)
  }
  for (const { id, head } of history.environments) {
    if (head !== null) keep(head, { kind: 'head', environment: id })
  }
  for (const id of history.inUse) keep(id, { kind: 'in-use' })
  const recent = newestOfEach(considered, rules.keepLast ?? 0)
  for (const snapshot of considered) {
    const kind = ruleThatKeeps(snapshot, rules, recent, history.nowMs)
    if (kind !== null) keep(snapshot.id, { kind })
  }
  const candidates = new Set(considered.map(({ id }) => id))
  const others = history.snapshots.map(({ id }) => id).filter((id) => !candidates.has(id))
  keepBases(history, reasons, others)
  return {
    remove: lineage
      .leavesFirst()
      .map(({ id }) => id)
      .filter((id) => candidates.has(id) && !reasons.has(id)),
    kept: considered.flatMap(({ id }) => {
      const reason = reasons.get(id)
      return reason === undefined ? [] : [{ id, reason }]
    }),
  }
}

function ruleThatKeeps(
  { id, name, status, createdAt }: PlannedSnapshot,
  { keepNamed, olderThanMs }: RetentionRules,
  recent: ReadonlySet<SnapshotId>,
  nowMs: number,
): 'writing' | 'named' | 'recent' | 'young' | null {
  if (status === 'writing') return 'writing'
  // A failed snapshot is of no use, so no rule keeps it.
  if (status === 'failed') return null
  if (keepNamed === true && name !== null) return 'named'
  if (recent.has(id)) return 'recent'
  return olderThanMs !== undefined && createdAt > nowMs - olderThanMs ? 'young' : null
}

function newestOfEach(snapshots: readonly PlannedSnapshot[], count: number): Set<SnapshotId> {
  const ready = snapshots.filter(({ status }) => status === 'ready')
  const groups = Map.groupBy(ready, ({ environmentId }) => environmentId)
  const newest = [...groups.values()].flatMap((group) =>
    group.toSorted((a, b) => b.createdAt - a.createdAt).slice(0, count),
  )
  return new Set(newest.map(({ id }) => id))
}

/** `others` stay whatever the rules say. */
function keepBases(
  history: History,
  reasons: Map<SnapshotId, KeepReason>,
  others: readonly SnapshotId[],
): void {
  const known = new Set(history.snapshots.map(({ id }) => id))
  const keepFor = (snapshot: SnapshotId, needs: readonly SnapshotId[]) => {
    for (const id of needs) {
      if (known.has(id) && !reasons.has(id)) reasons.set(id, { kind: 'base', snapshot })
    }
  }
  for (const id of [...reasons.keys(), ...others]) keepFor(id, history.needsOf(id))
  for (const { head, needs } of history.environments) if (head !== null) keepFor(head, needs)
}
