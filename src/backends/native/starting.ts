import { join } from 'node:path'
import { imagesFor } from '../../criu/image-variants.ts'
import { currentHome } from '../../criu/memory/generation.ts'
import { imageLayers } from '../../images/images.ts'
import { killPoint } from '../../linux/kill-points.ts'
import { isAlive } from '../../linux/process-identity.ts'
import type { Instance } from '../../model/environment.ts'
import type { SnapshotRecord } from '../../model/snapshot.ts'
import type { CreateSpec, Identity, MaterializeSpec, Ref } from '../backend.ts'
import type { PrepareSpec } from '../facets.ts'
import { writeIdentity } from './cell/environment-directory.ts'
import { wakeFrozen } from './cell/freezer.ts'
import { raiseKernelLimits } from './cell/kernel-limits.ts'
import { type Launch, launch } from './cell/launch.ts'
import { endSlot } from './cell/lives.ts'
import { takeSlot } from './cell/slots.ts'
import { explained, explainedIfFull } from './host-failures.ts'
import { imageOf } from './image.ts'
import { fromRecord, toRecord } from './instance.ts'
import { ensureVolumes, filesForNext, openVolumesForNew } from './machine.ts'
import type { Native } from './native.ts'
import { imageStore } from './native-images.ts'
import { baseLayers } from './overlay/layers.ts'
import { requireRoom } from './overlay/volumes/require-room.ts'
import { requireRoot } from './prerequisites.ts'

const doing = 'starting an environment'

export async function create(
  native: Native,
  spec: CreateSpec & Pick<Launch, 'slot' | 'root'>,
  signal?: AbortSignal,
): Promise<Instance> {
  const { tools, places, mask } = native
  requireRoot()
  await requireRoom(native, doing)
  const [files] = await Promise.all([openVolumesForNew(native), raiseKernelLimits()])
  killPoint('create:volume')
  const image = spec.image === undefined ? [] : await imageLayers(imageStore(native), spec.image.id)
  const layers = await explained('making the layers of an environment', () =>
    baseLayers(tools, places, spec.source, { mask, image }),
  )
  killPoint('create:layers')
  signal?.throwIfAborted()
  return await start(native, {
    ...spec,
    layers,
    files: files === 'subvolume' ? { from: null } : null,
    images: null,
    pages: null,
    replaces: null,
  })
}

export async function materialize(
  native: Native,
  { snapshot, replaces, role, ...spec }: MaterializeSpec,
): Promise<Instance> {
  await ensureVolumes(native)
  // A successor is the end of something that is nearly done.
  if (role !== 'successor') await requireRoom(native, doing)
  const image = imageOf(snapshot)
  const { layers, root, captured } = image
  const home = await homeOf(native, snapshot)
  const images = await imagesFor(home, role === 'copy' ? 'closed' : 'open')
  return await start(native, {
    ...spec,
    layers,
    root,
    files: await filesFrom(native, snapshot),
    replaces: replaces && fromRecord(replaces),
    images: captured.includes('processes') ? images : null,
    pairs: () => native.remembered.listFor(snapshot.id, image),
    pages: join(home, 'pages'),
    ...(role !== 'successor' && { check: () => native.manifests.verify(home) }),
  })
}

export async function prepare(
  native: Native,
  { snapshot, addressesOf, ...spec }: PrepareSpec,
): Promise<Instance> {
  await ensureVolumes(native)
  await requireRoom(native, doing)
  const home = await homeOf(native, snapshot)
  const images = await imagesFor(home, 'closed')
  const slot = await takeSlot(native.places, spec.id)
  const image = imageOf(snapshot)
  const { layers, root } = image
  try {
    const made = await launch(native, {
      ...spec,
      layers,
      root,
      files: await filesFrom(native, snapshot),
      images,
      pairs: () => native.remembered.listFor(snapshot.id, image),
      slot,
      pages: join(home, 'pages'),
      replaces: null,
      unconnected: { addresses: addressesOf && fromRecord(addressesOf).net },
      start: 'frozen',
      check: () => native.manifests.verify(home),
    })
    return toRecord(made)
  } catch (error) {
    await endSlot(native, spec.id, slot)
    throw error
  }
}

/** The current directory of its images: `ownMemory` makes a new one. */
function homeOf({ places }: Native, { id }: SnapshotRecord): Promise<string> {
  return currentHome(places.snapshot(id))
}

/**
 * Where a life that is made from a snapshot gets its files. If they are all in layers, it writes to where a new
 * environment would: so whoever is made on ext4 moves to btrfs with the next life.
 */
async function filesFrom(native: Native, snapshot: SnapshotRecord): Promise<Launch['files']> {
  const { files } = imageOf(snapshot)
  if (files === 'subvolume') return { from: native.places.filesIn(snapshot.id) }
  return (await filesForNext(native)) === 'subvolume' ? { from: null } : null
}

async function start(native: Native, spec: Launch): Promise<Instance> {
  const { places, ahead } = native
  const made = await explainedIfFull(places, doing, () => launch(native, spec))
  if (spec.files?.from) ahead.want(spec.files.from)
  return toRecord(made)
}

export async function wake(
  native: Native,
  { id, instance }: Ref,
  identity: Identity | null,
): Promise<boolean> {
  const { process, slot } = fromRecord(instance)
  if (!isAlive(process)) return false
  if (identity !== null) {
    await Promise.all([
      writeIdentity(native.places.slot(id, slot), identity, native.settings.ids.base),
      native.tools.runCell('naming a cell', ['hostname', String(process.pid), identity.hostname]),
    ])
  }
  return wakeFrozen(native.cgroups(id, slot))
}
