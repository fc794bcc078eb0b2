import type { EnvironmentRecord } from '../../model/environment.ts'
import type { SnapshotId } from '../../model/ids.ts'
import type { SnapshotRecord } from '../../model/snapshot.ts'
import type { Store } from '../../store/open-store.ts'
import type { Engine } from '../engine.ts'
import { lineageOf } from './lineage.ts'
import type { History } from './retention.ts'

/** What decides now about removals. */
export function historyOf(engine: Pick<Engine, 'store' | 'backend'>): History {
  const { store } = engine
  const snapshots = store.snapshots.list()
  const needs = new Map(snapshots.map((snapshot) => [snapshot.id, neededBy(engine, snapshot)]))
  return {
    snapshots,
    environments: store.environments
      .list()
      .map((environment) => ({ ...environment, needs: neededByLife(engine, environment) })),
    needsOf: (id) => needs.get(id) ?? [],
    inUse: inUse(store),
    nowMs: Date.now(),
  }
}

/** A backend without storage of its own keeps every snapshot for itself. */
function neededBy(
  { backend }: Pick<Engine, 'backend'>,
  { id, backend: name, image, status, parent }: SnapshotRecord,
): readonly SnapshotId[] {
  if (status === 'failed') return []
  // What it will need is not known yet; all of that is older.
  if (status === 'writing') return parent === null ? [] : [parent]
  const { storage } = backend(name)
  return storage === undefined ? [] : storage.needs(image).filter((other) => other !== id)
}

function neededByLife(
  { backend }: Pick<Engine, 'backend'>,
  { backend: name, instance }: EnvironmentRecord,
): readonly SnapshotId[] {
  return instance === null ? [] : (backend(name).storage?.needs(instance) ?? [])
}

function inUse(store: Store): Set<SnapshotId> {
  return new Set(store.journal.open().flatMap(({ payload }) => payload.from ?? []))
}

/** The parent that each remaining snapshot gets in place of one that goes. */
export function newParents(
  snapshots: History['snapshots'],
  going: ReadonlySet<SnapshotId>,
): Map<SnapshotId, SnapshotId | null> {
  const lineage = lineageOf(snapshots)
  const orphans = snapshots.filter(
    ({ id, parent }) => !going.has(id) && parent !== null && going.has(parent),
  )
  return new Map(
    orphans.map(({ id }) => {
      const heir = lineage.ancestorsOf(id).find((ancestor) => !going.has(ancestor.id))
      return [id, heir?.id ?? null]
    }),
  )
}
