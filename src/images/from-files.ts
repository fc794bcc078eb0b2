import { treeBytes } from '../linux/files/tree-bytes.ts'
import { killPoint } from '../linux/kill-points.ts'
import { archiveFiles } from './archives/archive-files.ts'
import { type DescribedImage, describeImage, directoryFiles } from './archives/description.ts'
import { unpackLayers } from './archives/unpack.ts'
import { type Entry, findEntry } from './cache.ts'
import { factsOf } from './facts.ts'
import type { ImageStore } from './image-store.ts'
import { publish, withName } from './publish.ts'

export async function fromDirectory(
  store: ImageStore,
  dir: string,
  name: string,
  signal: AbortSignal | undefined,
): Promise<Entry> {
  return await cacheDescribed(store, await describeImage(directoryFiles(dir)), name, signal)
}

export async function fromArchive(
  store: ImageStore,
  file: string,
  name: string,
  signal: AbortSignal | undefined,
): Promise<Entry> {
  return await cacheDescribed(store, await describeImage(await archiveFiles(file)), name, signal)
}

/** Unpacks what is not unpacked yet. */
async function cacheDescribed(
  store: ImageStore,
  image: DescribedImage,
  name: string,
  signal: AbortSignal | undefined,
): Promise<Entry> {
  const id = `sha256:${image.hex}`
  const known = await findEntry(store.places, id)
  if (known !== null) return await withName(store, known, name)
  const layers = await unpackLayers(store, image, signal)
  killPoint('image:unpacked-all')
  const sizes = await Promise.all(layers.map(({ path }) => treeBytes(store.tools, path)))
  return await publish(store, {
    facts: factsOf(id, image.config),
    layers,
    held: null,
    bytes: sizes.reduce((sum, size) => sum + size, 0),
    names: [name],
  })
}
