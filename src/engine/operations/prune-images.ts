import type { Input } from '../../api/contract/contract.ts'
import type { CachedImage } from '../../api/contract/data/store.ts'
import type { ImageUse } from '../../backends/facets.ts'
import type { BackendName } from '../../model/environment.ts'
import type { Engine } from '../engine.ts'
import { freeIfUnused } from './remove.ts'

/** Removes the container images that nothing uses; only reports them in a dry run. */
export async function pruneImages(
  engine: Engine,
  { dryRun = false }: Input<'images.prune'>,
): Promise<CachedImage[]> {
  const removed: CachedImage[] = []
  for (const { name, images } of engine.backends()) {
    if (images === undefined) continue
    const use = () => useOf(engine, name)
    removed.push(...(await images.prune(use, dryRun ? 'only-list' : 'remove')))
  }
  // The last image may have been all that the volume was kept for.
  if (!dryRun) await freeIfUnused(engine)
  return removed
}

/** Environments that are being made have no instance yet, but name their image. */
function useOf({ store }: Engine, backend: BackendName): ImageUse {
  const environments = store.environments.list().filter((record) => record.backend === backend)
  const snapshots = store.snapshots.list().filter((record) => record.backend === backend)
  const origins = snapshots.map(({ origin }) => origin)
  return {
    ids: new Set([...environments, ...origins].flatMap(({ image }) => image?.id ?? [])),
    records: [
      ...environments.flatMap(({ instance }) => instance ?? []),
      ...snapshots.map(({ image }) => image),
    ],
  }
}
