import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { dumpsEnded } from '../../../criu/dumps-ended.ts'
import { makeCopyVariant } from '../../../criu/image-variants.ts'
import { nameLinkRemaps, unnameLinkRemaps } from '../../../criu/link-remaps.ts'
import { dumpDespiteLostNames } from '../../../criu/lost-names.ts'
import { shareDump } from '../../../criu/memory/share-dump.ts'
import { judgeProcesses, surveyProcesses } from '../../../criu/memory/verdicts.ts'
import { repairImages } from '../../../criu/repair-images.ts'
import { settleNames } from '../../../criu/settle-names.ts'
import { ifThere } from '../../../linux/if-there.ts'
import { killPoint } from '../../../linux/kill-points.ts'
import { pathExists } from '../../../linux/path-exists.ts'
import { isAlive } from '../../../linux/process-identity.ts'
import { mkdir } from '../../../linux/quick-fs.ts'
import { removeTree } from '../../../linux/remove-tree.ts'
import { runCell } from '../../../linux/run-cell.ts'
import type { Stopwatch } from '../../../linux/stopwatch.ts'
import type { MemoryMode } from '../../../model/environment.ts'
import type { EnvironmentId, SnapshotId } from '../../../model/ids.ts'
import type { Captured, SnapshotMemory, SnapshotRecord } from '../../../model/snapshot.ts'
import type { Layer } from '../cell/cell.ts'
import type { Attributes } from '../cell/environment-directory.ts'
import { freeze, isFrozen, thaw } from '../cell/freezer.ts'
import { explained } from '../host-failures.ts'
import type { NativeInstance } from '../instance.ts'
import type { Native } from '../native.ts'
import { dropIndexLinks, restoreIndexLinks } from '../overlay/index-links.ts'
import { copyUpper, seal, unseal } from '../overlay/seal.ts'
import type { EnvironmentPlaces } from '../places.ts'
import { holdingsOf, ownBytes } from './holdings.ts'
import { refuseTraced } from './traced.ts'

/** What a snapshot is made of, as the store keeps it. */
export interface NativeImage {
  readonly kind: 'native'
  readonly captured: readonly Captured[]
  /** topmost first; the snapshot's own is among them if it sealed anything */
  readonly layers: readonly Layer[]
  /** mode and owner of `/` inside, which no layer can say */
  readonly root?: Attributes
  /** true if its processes can only be restored over these very layers */
  readonly pinned: boolean
}

export function imageOf(snapshot: SnapshotRecord): NativeImage {
  return snapshot.image as unknown as NativeImage
}

export function toImageRecord({ layers, root, ...image }: NativeImage): SnapshotRecord['image'] {
  return { ...image, ...(root && { root: { ...root } }), layers: layers.map((it) => ({ ...it })) }
}

interface Capture {
  readonly image: NativeImage
  readonly imagesBytes: number
  readonly memory: SnapshotMemory | null
  readonly frozenAt: number
}

interface Subject {
  readonly id: EnvironmentId
  readonly instance: NativeInstance
  readonly snapshot: SnapshotId
}

/**
 * Takes an environment's processes and files. Afterwards it is frozen and its upper is empty: either
 * a successor takes over, or `uncapture` gives it back what was taken.
 */
export async function capture(
  native: Native,
  { id, instance, snapshot, memory: mode }: Subject & { readonly memory: MemoryMode },
  watch: Stopwatch,
): Promise<Capture> {
  const { places, settings, workers } = native
  const cgroups = native.cgroups(id, instance.slot)
  const images = join(places.snapshot(snapshot), 'images')
  workers.prepare(2)
  refuseTraced(cgroups[0] ?? '')
  // What CRIU restores reads some of them as the sandbox's root.
  await mkdir(images, { recursive: true, mode: 0o711 })
  // Programs are read before the freeze; then it is a matter of a moment.
  const survey = await watch.measure('judge', () =>
    surveyProcesses(settings, cgroups[0] ?? '', mode),
  )
  const frozenAt = performance.now()
  await watch.measure('freeze', () => freeze(cgroups))
  killPoint('snapshot:frozen')
  const [verdicts, { watchesByHandle }] = await Promise.all([
    // First: what processes map is read before CRIU adds code of its own to it.
    judgeProcesses(survey, cgroups[0] ?? '', mode),
    watch.measure('dump', () =>
      dumpDespiteLostNames(workers, {
        ...{ pid: instance.process.pid, images, cgroup: cgroups[0] ?? '' },
      }),
    ),
  ])
  const memory = await watch.measure('surgery', async () => {
    await settleNames(images, instance.process.pid)
    await nameLinkRemaps(images, instance.process.pid)
    await repairImages(images)
    const from = places.slot(id, instance.slot).pages
    const pages = places.pages(snapshot)
    const shared = await shareDump({ snapshot, images, pages, from, mode, verdicts })
    await makeCopyVariant(places.snapshot(snapshot), images)
    return shared
  })
  killPoint('snapshot:dumped')
  const layer: Layer = { path: places.sealed(snapshot), ids: 'cell' }
  const slot = places.slot(id, instance.slot)
  await watch.measure('seal', async () => {
    await rejoinLinks(instance, slot.work)
    await dropIndexLinks(slot)
    await seal(slot.upper, layer.path)
  })
  killPoint('snapshot:sealed')
  return {
    image: {
      kind: 'native',
      captured: ['filesystem', 'processes', 'terminal'],
      layers: [layer, ...instance.layers],
      pinned: watchesByHandle,
    },
    imagesBytes: ownBytes(await holdingsOf(places, snapshot)),
    ...{ memory, frozenAt },
  }
}

/** A changed file keeps its content under all of its names; the search is long only if there is one. */
async function rejoinLinks(instance: NativeInstance, work: string): Promise<void> {
  const index = join(work, 'index')
  // Most often nothing was copied up, and starting a program to find that takes milliseconds.
  const entries = ifThere(() => readdirSync(index, { withFileTypes: true }))
  if (!entries?.some((entry) => entry.isFile())) return
  const layers = instance.layers.map(({ path }) => path)
  const pid = String(instance.process.pid)
  await runCell('joining hard links', ['rejoin', pid, index, ...layers])
}

/** Copies an environment's files while it is frozen; it then goes on as it was. */
export async function captureFiles(
  native: Native,
  { id, instance, snapshot }: Subject,
  watch: Stopwatch,
): Promise<Capture> {
  const cgroups = native.cgroups(id, instance.slot)
  const layer: Layer = { path: native.places.sealed(snapshot), ids: 'cell' }
  const wasFrozen = isFrozen(cgroups)
  const frozenAt = performance.now()
  await watch.measure('freeze', () => freeze(cgroups))
  try {
    const { upper, work } = native.places.slot(id, instance.slot)
    await watch.measure('copy', async () => {
      await rejoinLinks(instance, work)
      await copyUpper(upper, layer.path)
    })
    killPoint('snapshot:copied')
  } finally {
    if (!wasFrozen) await watch.measure('thaw', () => thaw(cgroups))
  }
  const layers = [layer, ...instance.layers]
  const image: NativeImage = { kind: 'native', captured: ['filesystem'], layers, pinned: false }
  return { image, imagesBytes: 0, memory: null, frozenAt }
}

/** Undoes `capture` at whatever step it ended; nothing inside can tell that anything happened. */
export async function uncapture(
  native: Native,
  id: EnvironmentId,
  instance: NativeInstance,
  snapshot: SnapshotId,
): Promise<void> {
  await explained('giving back what a snapshot took', async () => {
    const images = join(native.places.snapshot(snapshot), 'images')
    // Files were only moved where processes were taken, too; a copy must not come back over them.
    const tookFiles = await pathExists(images)
    const slot = native.places.slot(id, instance.slot)
    if (tookFiles) {
      await dumpsEnded(images)
      // Before its files are all back, nothing may run that would miss them.
      await unseal(native.places.sealed(snapshot), slot.upper)
    }
    try {
      if (tookFiles) await restoreNames(slot, images, instance)
    } finally {
      const cgroups = native.cgroups(id, instance.slot)
      if (await pathExists(cgroups[0] ?? '')) await thaw(cgroups)
    }
  })
  await discard(native, snapshot)
}

async function restoreNames(
  slot: EnvironmentPlaces,
  images: string,
  instance: NativeInstance,
): Promise<void> {
  await restoreIndexLinks(slot)
  if (isAlive(instance.process)) await unnameLinkRemaps(images, instance.process.pid)
}

/** Removes a snapshot's files. */
export async function discard(native: Native, snapshot: SnapshotId): Promise<void> {
  await removeTree(native.places.snapshot(snapshot))
  await removeTree(native.places.sealed(snapshot))
}
