import { join } from 'node:path'
import { removeTree } from '../linux/files/remove-tree.ts'
import { killPoint } from '../linux/kill-points.ts'
import { BackendError, NotFoundError } from '../model/errors.ts'
import { quote } from '../model/text/quote.ts'
import { type Entry, findEntry, hexOf, makeDraft, noteHold } from './cache.ts'
import { commitContainer, findContainer } from './containers.ts'
import { exportImage, inspectImage, type StoredImage } from './engines.ts'
import { factsOf } from './facts.ts'
import { fromArchive, fromDirectory } from './from-files.ts'
import { type EngineName, hold, planHold } from './held.ts'
import type { ImageStore } from './image-store.ts'
import { usablePrograms } from './programs.ts'
import { publish, withName } from './publish.ts'

/** An image of an engine: its layers where they are if possible, else a copy. */
export async function cacheStored(
  store: ImageStore,
  image: StoredImage,
  name: string,
  signal: AbortSignal | undefined,
): Promise<Entry> {
  const { engine, hex, layers, bytes } = image
  const id = `sha256:${hex}`
  const known = await findEntry(store.places, id)
  if (known !== null) return await withName(store, known, name)
  if (layers === null) {
    return await inDraft(store, async (draft) =>
      fromArchive(store, await exportImage(store, engine, hex, draft), name, signal),
    )
  }
  const held = await planHold(store, engine, hex)
  await noteHold(store.places, hex, held)
  await hold(store, held, hex)
  killPoint('image:held')
  return await publish(store, {
    facts: factsOf(id, image.config),
    layers,
    held,
    bytes,
    names: [name],
  })
}

/** An image that only buildah can reach. */
export async function cacheBuilt(
  store: ImageStore,
  hex: string,
  name: string,
  signal: AbortSignal | undefined,
): Promise<Entry> {
  const known = await findEntry(store.places, `sha256:${hex}`)
  if (known !== null) return await withName(store, known, name)
  return await inDraft(store, async (draft) => {
    const dir = join(draft, 'image')
    await store.tools.mustRun('exporting an image from buildah', 'buildah', [
      'push',
      '--quiet',
      hex,
      `oci:${dir}`,
    ])
    return await fromDirectory(store, dir, name, signal)
  })
}

/** `image:REF`: what an engine has under this name, or what a registry has. */
export async function fromReference(
  store: ImageStore,
  reference: string,
  name: string,
  signal: AbortSignal | undefined,
): Promise<Entry> {
  const programs = await usablePrograms(
    store,
    ['podman', 'docker', 'buildah', 'skopeo'] as const,
    'getting an image',
  )
  const engines = programs.filter((program) => program === 'podman' || program === 'docker')
  for (const engine of engines) {
    const image = await inspectImage(store, engine, reference)
    if (image !== null) return await cacheStored(store, image, name, signal)
  }
  const [engine] = engines
  if (engine !== undefined) {
    const image = await pull(store, engine, reference, signal)
    return await cacheStored(store, image, name, signal)
  }
  if (programs.includes('skopeo')) return await copyFromRegistry(store, reference, name, signal)
  return await cacheBuilt(store, await pullWithBuildah(store, reference, signal), name, signal)
}

async function pull(
  store: ImageStore,
  engine: EngineName,
  reference: string,
  signal: AbortSignal | undefined,
): Promise<StoredImage> {
  const pulled = await store.tools.run(engine, ['pull', '--quiet', '--', reference], { signal })
  signal?.throwIfAborted()
  if (pulled.exitCode !== 0) throw notThere(reference, engine, pulled.stderr)
  const image = await inspectImage(store, engine, reference)
  if (image === null) throw notThere(reference, engine, 'it was pulled, and is gone')
  return image
}

async function pullWithBuildah(
  { tools }: ImageStore,
  reference: string,
  signal: AbortSignal | undefined,
): Promise<string> {
  const args = ['pull', '--quiet', '--policy', 'missing', '--', reference]
  const { exitCode, stdout, stderr } = await tools.run('buildah', args, { signal })
  const hex = hexOf(stdout.trim().split('\n').at(-1) ?? '')
  if (exitCode !== 0 || hex === null) throw notThere(reference, 'buildah', stderr)
  return hex
}

async function copyFromRegistry(
  store: ImageStore,
  reference: string,
  name: string,
  signal: AbortSignal | undefined,
): Promise<Entry> {
  return await inDraft(store, async (draft) => {
    const dir = join(draft, 'image')
    const args = ['copy', '--quiet', `docker://${reference}`, `oci:${dir}`]
    const { exitCode, stderr } = await store.tools.run('skopeo', args, { signal })
    if (exitCode !== 0) throw notThere(reference, 'skopeo', stderr)
    return await fromDirectory(store, dir, name, signal)
  })
}

/** `container:NAME`: a commit of its files. The container stays as it is. */
export async function fromContainer(
  store: ImageStore,
  container: string,
  name: string,
  signal: AbortSignal | undefined,
): Promise<Entry> {
  const found = await findContainer(store, container)
  const hex = await commitContainer(store, found, 'running')
  return await cacheCommit(store, { engine: found.engine, hex }, name, signal)
}

/** What `commitContainer` has made. */
export async function cacheCommit(
  store: ImageStore,
  { engine, hex }: Pick<StoredImage, 'engine' | 'hex'>,
  name: string,
  signal: AbortSignal | undefined,
): Promise<Entry> {
  const image = await inspectImage(store, engine, hex)
  if (image !== null) return await cacheStored(store, image, name, signal)
  throw new BackendError(`${engine} has lost the image that it made of ${name}`, {
    remedy: 'try again',
  })
}

async function inDraft<T>(store: ImageStore, work: (draft: string) => Promise<T>): Promise<T> {
  const draft = await makeDraft(store.places)
  try {
    return await work(draft)
  } finally {
    await removeTree(store.tools, draft)
  }
}

function notThere(reference: string, program: string, stderr: string): NotFoundError {
  const why = stderr.trim().split('\n').at(-1) ?? ''
  return new NotFoundError(`${program} cannot get the image ${quote(reference)}: ${why}`, {
    remedy: `check the name with \`${program} pull ${reference}\`, or use archive:FILE or oci:DIR`,
  })
}
