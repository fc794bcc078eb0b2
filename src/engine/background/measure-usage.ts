import type { CachedImage, EnvironmentUsage, Usage } from '../../api/contract/data/store.ts'
import type { SnapshotHoldings } from '../../backends/facets.ts'
import type { EnvironmentRecord } from '../../model/environment.ts'
import type { SnapshotRecord } from '../../model/snapshot.ts'
import type { Engine } from '../engine.ts'
import { usageOf } from '../history/usage.ts'
import { markDead } from '../recovery/liveness.ts'

/** Measures disk and memory usage; asks the machine for everything that can change. */
export async function measureUsage(engine: Engine): Promise<Usage> {
  await markDead(engine)
  await countFiles(engine)
  const { snapshots, environments, spares } = engine.store
  const measured = environments.list().map(async (record) => ({
    ...(await environmentUsage(engine, record)),
    layers: layersUnder(engine, record),
  }))
  const used = snapshots.list().map(async (record) => ({
    ...record,
    layers: layersIn(engine, record),
    held: await holdingsOf(engine, record),
  }))
  const sparesBytes = spares.list().reduce((sum, { memoryBytes }) => sum + memoryBytes, 0)
  const containerImages = await cachedImages(engine)
  return usageOf(await Promise.all(used), await Promise.all(measured), {
    sparesBytes,
    containerImages,
  })
}

async function cachedImages(engine: Engine): Promise<CachedImage[]> {
  const lists = engine.backends().map(({ images }) => images?.list() ?? [])
  return (await Promise.all(lists)).flat()
}

/** Asked each time, because every new snapshot may change who shares a snapshot's memory. */
function holdingsOf(
  engine: Engine,
  snapshot: SnapshotRecord,
): SnapshotHoldings | Promise<SnapshotHoldings> {
  const { status, backend, sizes } = snapshot
  const { storage } = engine.backend(backend)
  if (status !== 'ready' || storage === undefined) {
    return { imagesBytes: sizes.imagesBytes, pages: [] }
  }
  return storage.holdings(snapshot)
}

/** What a snapshot is made of: layers, or its own files and those of the snapshots before it. */
function layersIn(engine: Engine, record: SnapshotRecord): readonly string[] {
  const { storage } = engine.backend(record.backend)
  if (storage === undefined || record.status !== 'ready') return []
  const layers = storage.layersOf(record.image)
  if (!storage.sharesBlocks(record.image)) return layers
  const { snapshots } = engine.store
  const before = record.parent === null ? undefined : snapshots.get(record.parent)
  return [record.id, ...(before ? layersIn(engine, before) : layers)]
}

/** The layers that its files are mounted from, and those of its head, which it would resume from. */
function layersUnder(engine: Engine, { backend, instance, head }: EnvironmentRecord): string[] {
  const { storage } = engine.backend(backend)
  const from = head === null ? undefined : engine.store.snapshots.get(head)
  const mounted = instance ? (storage?.layersOf(instance) ?? []) : []
  return [...new Set([...mounted, ...(from ? layersIn(engine, from) : [])])]
}

/** Flushes snapshots that a killed process did not flush, because a flush counts the files. */
async function countFiles({ backend, store, flushes }: Engine): Promise<void> {
  const uncounted = store.snapshots
    .list()
    .filter(({ status, sizes }) => status === 'ready' && sizes.filesBytes === null)
    .filter((snapshot) => backend(snapshot.backend).storage !== undefined)
  // If that fails, the files stay uncounted, and usage says so; the flush has logged why.
  for (const snapshot of uncounted) await flushes.start(snapshot).catch(() => {})
}

async function environmentUsage(
  engine: Engine,
  { id, name, status, backend, instance, head }: EnvironmentRecord,
): Promise<EnvironmentUsage> {
  const lives = status === 'running' || status === 'paused'
  if (!lives || instance === null) return { id, name, status, diskBytes: null, memoryBytes: null }
  const { diskBytes, memory } = await engine.backend(backend).stats({ id, instance }, head)
  return { id, name, status, diskBytes, memoryBytes: memory.privateBytes }
}
