import type { Source } from '../model/environment.ts'
import { ConflictError } from '../model/errors.ts'
import { formatSource } from '../model/source.ts'
import { fromDockerfile } from './build/build.ts'
import { type Entry, findEntry, makeCache, sweepDrafts } from './cache.ts'
import { commitContainer, type FoundContainer } from './containers.ts'
import { cacheCommit, fromContainer, fromReference } from './from-engine.ts'
import { fromArchive, fromDirectory } from './from-files.ts'
import type { ImageLayer } from './image-layer.ts'
import type { ImageStore } from './image-store.ts'

type ImageSource = Extract<
  Source,
  { kind: 'image' | 'dockerfile' | 'oci' | 'archive' | 'container' }
>

/** Gets, builds or unpacks the image, unless that was done before. */
export async function resolveImage(
  store: ImageStore,
  source: ImageSource,
  signal?: AbortSignal,
): Promise<Entry> {
  await openCache(store)
  return await store.explained(() => find(store, source, signal))
}

/** An image of the files of a container that stands still. `commit` makes it, and returns its id. */
export async function imageOfStill(
  store: ImageStore,
  container: FoundContainer,
  signal?: AbortSignal,
): Promise<{ commit(): Promise<string>; cached(): Promise<Entry> }> {
  await openCache(store)
  let hex: string | undefined
  return {
    commit: async () => {
      hex = await store.explained(() => commitContainer(store, container, 'still'))
      return `sha256:${hex}`
    },
    // It need not stand still for this.
    cached: async () => {
      if (hex === undefined) throw new TypeError('nothing was committed')
      const made = { engine: container.engine, hex }
      const name = formatSource({ kind: 'container', name: container.name })
      return await store.explained(() => cacheCommit(store, made, name, signal))
    },
  }
}

async function openCache(store: ImageStore): Promise<void> {
  const { tools, places } = store
  await store.open(() => makeCache(places))
  await sweepDrafts(tools, places)
}

async function find(
  store: ImageStore,
  source: ImageSource,
  signal: AbortSignal | undefined,
): Promise<Entry> {
  const name = formatSource(source)
  switch (source.kind) {
    case 'oci':
      return await fromDirectory(store, source.path, name, signal)
    case 'archive':
      return await fromArchive(store, source.path, name, signal)
    case 'dockerfile':
      return await fromDockerfile(store, source.dir, name, signal)
    case 'image':
      return await fromReference(store, source.ref, name, signal)
    case 'container':
      return await fromContainer(store, source.name, name, signal)
  }
}

/** The layers of the image that `validate` found, which its record now keeps from being pruned. */
export async function imageLayers(store: ImageStore, id: string): Promise<readonly ImageLayer[]> {
  const entry = await findEntry(store.places, id)
  if (entry !== null) return entry.layers
  throw new ConflictError(`the image ${id} was removed while an environment was being made`, {
    remedy: 'try again',
  })
}
