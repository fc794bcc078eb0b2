import type { EnvironmentRecord } from '../model/environment.ts'
import type { SnapshotRecord } from '../model/snapshot.ts'
import type { Engine } from './engine.ts'
import { type AllHoldings, type EnvironmentUsage, type Usage, usageOf } from './history/usage.ts'
import { markDead } from './liveness.ts'

/** What everything takes, asked of the machine where it can change. */
export async function measureUsage(engine: Engine): Promise<Usage> {
  markDead(engine)
  await countFiles(engine)
  const { snapshots, environments } = engine.store
  const measured = environments.list().map(async (record) => ({
    ...(await environmentUsage(engine, record)),
    head: record.head,
  }))
  const all = snapshots.list()
  return usageOf(all, await Promise.all(measured), await holdingsOf(engine, all))
}

/** Asked each time: who else has a snapshot's memory changes with every other snapshot. */
async function holdingsOf(
  engine: Engine,
  snapshots: readonly SnapshotRecord[],
): Promise<AllHoldings> {
  const ready = snapshots.filter(({ status }) => status === 'ready')
  const held = ready.map(
    async (snapshot) =>
      [snapshot.id, await engine.backend(snapshot.backend).holdings(snapshot)] as const,
  )
  return new Map(await Promise.all(held))
}

/** A process that was killed may have left a snapshot without its flush, which counts the files. */
async function countFiles({ store, flushes }: Engine): Promise<void> {
  const uncounted = store.snapshots
    .list()
    .filter(({ status, sizes }) => status === 'ready' && sizes.filesBytes === null)
  // One that cannot be flushed stays uncounted, and usage says so.
  for (const snapshot of uncounted) await flushes.start(snapshot).catch(() => {})
}

async function environmentUsage(
  engine: Engine,
  { id, name, status, backend, instance }: EnvironmentRecord,
): Promise<EnvironmentUsage> {
  const lives = status === 'running' || status === 'paused'
  if (!lives || instance === null) return { id, name, status, diskBytes: null, memoryBytes: null }
  const { diskBytes, memoryBytes } = await engine.backend(backend).stats(id, instance)
  return { id, name, status, diskBytes, memoryBytes }
}
