// Histories for tests of planning: hand-written and arbitrary ones.
import fc from 'fast-check'
import { lineageOf } from '../../../src/engine/history/lineage.ts'
import type { History, PlannedSnapshot } from '../../../src/engine/history/retention.ts'
import type { EnvironmentRecord } from '../../../src/model/environment.ts'
import type { EnvironmentId, SnapshotId } from '../../../src/model/ids.ts'
import type { SnapshotRecord } from '../../../src/model/snapshot.ts'
import { type Name, parseName } from '../../../src/model/values/names.ts'
import { someEnvironment } from '../store/temporary-store.ts'

export const minuteMs = 60_000
/** The current time of every history here. */
export const nowMs = 1_000 * minuteMs

/** An id that a reader recognizes: `s` and the number, padded with zeros. */
export function snapshotId(number: number): SnapshotId {
  return `s${String(number).padStart(11, '0')}` as SnapshotId
}

export function environmentId(number: number): EnvironmentId {
  return `e${String(number).padStart(11, '0')}` as EnvironmentId
}

/** The snapshot with this number, taken that many minutes after the first. */
export function someSnapshot(
  number: number,
  parent: number | null,
  changes: Partial<SnapshotRecord> = {},
): SnapshotRecord {
  const { source, limits, net, env, workdir, labels } = someEnvironment()
  return {
    id: snapshotId(number),
    name: null,
    environmentId: environmentId(1),
    parent: parent === null ? null : snapshotId(parent),
    backend: 'native',
    status: 'ready',
    proof: 'proven',
    durable: true,
    captured: ['filesystem'],
    original: 'kept',
    by: 'user',
    message: '',
    labels: {},
    metadata: null,
    sizes: { filesBytes: 100, imagesBytes: 10 },
    timing: { pauseMs: 0, totalMs: 0, phases: [] },
    createdAt: number * minuteMs,
    origin: { source, limits, net, env, workdir, labels },
    image: {},
    ...changes,
  }
}

export function environmentAt(number: number, head: number | null, name?: string) {
  const changes = {
    id: environmentId(number),
    createdAt: number * minuteMs,
    head: head === null ? null : snapshotId(head),
    ...(name !== undefined && { name: parseName(name) }),
  }
  return someEnvironment(changes)
}

export function historyOf(
  snapshots: readonly PlannedSnapshot[],
  environments: readonly EnvironmentRecord[] = [],
): History {
  return layered({ snapshots, environments, inUse: new Set(), nowMs })
}

type Plain = Omit<History, 'needsOf' | 'environments'> & {
  readonly environments: readonly EnvironmentRecord[]
}

/** A history in which everything lies over all that came before it. */
function layered(plain: Plain): History {
  const lineage = lineageOf(plain.snapshots)
  const needsOf = (id: SnapshotId) => lineage.ancestorsOf(id).map((ancestor) => ancestor.id)
  const environments = plain.environments.map((environment) => {
    const { head } = environment
    return { ...environment, needs: head === null ? [] : needsOf(head) }
  })
  return { ...plain, environments, needsOf }
}

/** The same history, in which every snapshot stands for itself. */
export function standalone(history: History): History {
  const environments = history.environments.map((environment) => ({ ...environment, needs: [] }))
  return { ...history, environments, needsOf: () => [] }
}

/** Any forest of up to 30 snapshots, any environments on it, some of it in use. */
export const anyHistory: fc.Arbitrary<History> = fc
  .record({
    snapshots: fc.array(
      fc.record({
        parent: fc.option(fc.nat(), { freq: 5 }),
        named: fc.boolean(),
        owner: fc.integer({ min: 1, max: 4 }),
        status: fc.constantFrom('ready', 'ready', 'ready', 'writing', 'failed'),
      }),
      { maxLength: 30 },
    ),
    heads: fc.array(fc.option(fc.nat(), { freq: 5 }), { maxLength: 5 }),
    inUse: fc.array(fc.nat(), { maxLength: 2 }),
  })
  .map(({ snapshots, heads, inUse }) => ({
    nowMs,
    // A parent is always older than its child, as in a store.
    snapshots: snapshots.map(({ parent, named, owner, status }, index) =>
      someSnapshot(index, parent === null || index === 0 ? null : parent % index, {
        name: named ? (`name-${index}` as Name) : null,
        environmentId: environmentId(owner),
        status: status as SnapshotRecord['status'],
      }),
    ),
    environments: heads.map((head, index) =>
      environmentAt(
        index,
        head === null || snapshots.length === 0 ? null : head % snapshots.length,
      ),
    ),
    inUse: new Set(inUse.filter((at) => at < snapshots.length).map(snapshotId)),
  }))
  .map(layered)
