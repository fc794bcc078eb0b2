import type { SnapshotHoldings } from '../../backends/backend.ts'
import type { EnvironmentRecord } from '../../model/environment.ts'
import type { SnapshotRecord } from '../../model/snapshot.ts'
import type { Engine } from '../engine.ts'
import { type EnvironmentUsage, type Usage, usageOf } from '../history/usage.ts'
import { markDead } from '../recovery/liveness.ts'

/** What everything takes, asked of the machine where it can change. */
export async function measureUsage(engine: Engine): Promise<Usage> {
  markDead(engine)
  await countFiles(engine)
  const { snapshots, environments, spares } = engine.store
  const measured = environments.list().map(async (record) => ({
    ...(await environmentUsage(engine, record)),
    layers: layersUnder(engine, record),
  }))
  const used = snapshots.list().map(async (record) => ({
    ...record,
    layers: engine.backend(record.backend).layersOf(record.image),
    held: await holdingsOf(engine, record),
  }))
  const sparesBytes = spares.list().reduce((sum, { memoryBytes }) => sum + memoryBytes, 0)
  return usageOf(await Promise.all(used), await Promise.all(measured), sparesBytes)
}

/** Asked each time: who else has a snapshot's memory changes with every other snapshot. */
function holdingsOf(
  engine: Engine,
  snapshot: SnapshotRecord,
): SnapshotHoldings | Promise<SnapshotHoldings> {
  const { status, backend, sizes } = snapshot
  if (status !== 'ready') return { imagesBytes: sizes.imagesBytes, pages: [] }
  return engine.backend(backend).holdings(snapshot)
}

/** What its files are mounted from, and what it would go on from if it had no processes. */
function layersUnder(engine: Engine, { backend, instance, head }: EnvironmentRecord): string[] {
  const { layersOf } = engine.backend(backend)
  const from = head === null ? undefined : engine.store.snapshots.get(head)
  const names = [instance, from?.image].flatMap((record) => (record ? layersOf(record) : []))
  return [...new Set(names)]
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
  const { diskBytes, memory } = await engine.backend(backend).stats(id, instance)
  return { id, name, status, diskBytes, memoryBytes: memory.privateBytes }
}
