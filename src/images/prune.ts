import { join } from 'node:path'
import type { CachedImage, Images, ImageUse } from '../backends/facets.ts'
import { namesIn } from '../linux/files/names-in.ts'
import { removeTree } from '../linux/files/remove-tree.ts'
import { killPoint } from '../linux/kill-points.ts'
import {
  type Entry,
  forgetBuilds,
  forgetHold,
  listEntries,
  listHolds,
  partOf,
  removeEntry,
  sweepDrafts,
} from './cache.ts'
import { letGo } from './held.ts'
import type { ImageStore } from './image-store.ts'

/** The images of a backend, as the engine sees them. */
export function imagesOf(store: ImageStore): Images {
  return {
    list: async () => {
      await store.reopen()
      return (await listEntries(store.places)).map(cachedImage)
    },
    prune: (use, how) => prune(store, use, how),
  }
}

function cachedImage({ facts, names, bytes, held }: Entry): CachedImage {
  const kept = held === null ? { bytes, heldBytes: 0 } : { bytes: 0, heldBytes: bytes }
  return { id: facts.id, names, ...kept }
}

/** Nobody can add an image meanwhile, and whoever is about to use one has a record already. */
async function prune(
  store: ImageStore,
  use: () => ImageUse,
  how: 'remove' | 'only-list',
): Promise<CachedImage[]> {
  const { exclusively, places, tools } = store
  await store.reopen()
  return await exclusively('images', 'pruning images', async () => {
    const entries = await listEntries(places)
    const { ids } = use()
    const inUse = ({ facts }: Entry) => ids.has(facts.id)
    const unused = entries.filter((entry) => !inUse(entry))
    if (how === 'remove') {
      const kept = entries.filter(inUse)
      for (const entry of unused) await remove(store, entry)
      await forgetBuilds(places, new Set(kept.map(({ facts }) => facts.id)))
      await letGoOfOthers(store, kept)
      await removeLayers(store, kept, use())
      await sweepDrafts(tools, places)
    }
    return unused.map(cachedImage)
  })
}

/** First the entry, so that nobody starts from an image that is half gone. */
async function remove(store: ImageStore, { facts }: Entry): Promise<void> {
  await removeEntry(store.places, facts.id)
  killPoint('image:forgotten')
}

/** Also of a process that was killed before it listed the image. */
async function letGoOfOthers(store: ImageStore, kept: readonly Entry[]): Promise<void> {
  const ids = new Set(kept.filter(({ held }) => held !== null).map(({ facts }) => facts.id))
  for (const [hex, held] of await listHolds(store.places)) {
    if (ids.has(`sha256:${hex}`)) continue
    await letGo(store, held)
    await forgetHold(store.places, hex)
  }
}

/** Also what a killed process has unpacked without listing it. */
async function removeLayers(
  { places, tools, layersIn }: ImageStore,
  kept: readonly Entry[],
  { records }: ImageUse,
): Promise<void> {
  const listed = kept.flatMap(({ layers }) => layers.map(({ path }) => path))
  const paths = new Set([...listed, ...records.flatMap(layersIn)])
  const dir = partOf(places, 'layers')
  for (const name of namesIn(dir)) {
    const path = join(dir, name)
    if (!paths.has(path)) await removeTree(tools, path)
  }
}
