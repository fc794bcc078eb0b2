import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { dumpsEnded } from '../../../criu/dumps-ended.ts'
import { openImages } from '../../../criu/images/dump-images.ts'
import { linkNamelessFiles, unlinkNamelessFiles } from '../../../criu/nameless-files.ts'
import { ifExists } from '../../../linux/files/if-exists.ts'
import { pathExists } from '../../../linux/files/path-exists.ts'
import { removeTree } from '../../../linux/files/remove-tree.ts'
import { killPoint } from '../../../linux/kill-points.ts'
import { isAlive } from '../../../linux/process-identity.ts'
import type { Stopwatch } from '../../../linux/stopwatch.ts'
import type { Tools } from '../../../linux/tools.ts'
import type { EnvironmentId, SnapshotId } from '../../../model/ids.ts'
import type { Lost, SnapshotMemory } from '../../../model/snapshot.ts'
import type { Layer } from '../cell/cell.ts'
import { isFrozen } from '../cell/freezer.ts'
import { explained } from '../host-failures.ts'
import type { NativeImage } from '../image.ts'
import type { NativeInstance } from '../instance.ts'
import type { Native } from '../native.ts'
import { dropIndexLinks, restoreIndexLinks } from '../overlay/index-links.ts'
import { copyUpper, seal, unseal } from '../overlay/seal.ts'
import { deleteSubvolumes } from '../overlay/subvolumes/subvolumes.ts'
import type { EnvironmentPlaces } from '../places.ts'
import { continueOriginal, freezeNoting, notesOfOriginal } from './continue-original.ts'
import { holdingsOf, ownBytes } from './holdings.ts'
import {
  dumpProcesses,
  type FullSubject,
  type Subject,
  settleDump,
  shareImages,
  storeImages,
} from './take-processes.ts'

export interface Capture {
  readonly image: NativeImage
  readonly imagesBytes: number
  readonly memory: SnapshotMemory | null
  /** what copies will not have */
  readonly lost: readonly Lost[]
  /** when the environment stopped and continued, in the time of `performance.now()`; null: it has not */
  readonly frozenAt: number
  readonly thawedAt: number | null
  /** how long it stood still before that, if it did */
  readonly earlierStopMs: number
}

/**
 * Captures processes and files of an environment that writes to a directory. Afterwards it is frozen and
 * its upper is empty. Then either a successor takes over, or `uncapture` gives everything back.
 */
export async function capture(
  native: Native,
  subject: FullSubject,
  watch: Stopwatch,
): Promise<Capture> {
  const { instance, snapshot } = subject
  const dumped = await dumpProcesses(native, subject, watch, async () => {})
  const stored = await watch.measure('surgery', async () => {
    const settled = await settleDump(native, subject, dumped)
    const noted = await notesOfOriginal(native, native.cgroups(subject.id, instance.slot))
    const shared = await shareImages(native, subject, settled, dumped)
    const written = await storeImages(native, subject, shared, { ...dumped, noted })
    const images = openImages(settled.directory)
    await linkNamelessFiles(native.tools, images, instance.process.pid)
    return written
  })
  killPoint('snapshot:dumped')
  const layer = await watch.measure('seal', () => sealFiles(native, subject))
  killPoint('snapshot:sealed')
  return {
    image: {
      kind: 'native',
      captured: ['filesystem', 'processes', 'terminal'],
      layers: [layer, ...instance.layers],
      pinned: dumped.pinned,
    },
    imagesBytes: ownBytes(await holdingsOf(native.places, snapshot)),
    ...stored,
    frozenAt: dumped.frozenAt,
    thawedAt: null,
    earlierStopMs: dumped.earlierStopMs,
  }
}

async function sealFiles(
  { places, tools }: Native,
  { id, instance, snapshot }: Subject,
): Promise<Layer> {
  const slot = places.slot(id, instance.slot)
  const path = places.sealed(snapshot)
  await rejoinLinks(tools, instance, slot.work)
  await dropIndexLinks(slot)
  await seal(slot.upper, path)
  return { path, ids: 'cell' }
}

/** Makes all names of a changed file lead to its new content. Only such a file needs a long search. */
async function rejoinLinks(tools: Tools, instance: NativeInstance, work: string): Promise<void> {
  const index = join(work, 'index')
  // Usually nothing was copied up, and starting a program to find that out takes milliseconds.
  const entries = ifExists(() => readdirSync(index, { withFileTypes: true }))
  if (!entries?.some((entry) => entry.isFile())) return
  const layers = instance.layers.map(({ path }) => path)
  const pid = String(instance.process.pid)
  await tools.runCell('joining hard links', ['rejoin', pid, index, ...layers])
}

/** Copies an environment's files while it is frozen; then it continues. */
export async function captureFiles(
  native: Native,
  { id, instance, snapshot }: Subject,
  watch: Stopwatch,
): Promise<Capture> {
  const { tools } = native
  const cgroups = native.cgroups(id, instance.slot)
  const layer: Layer = { path: native.places.sealed(snapshot), ids: 'cell' }
  const wasFrozen = isFrozen(cgroups)
  const { frozenAt, phases } = await freezeNoting(native, cgroups)
  watch.add(phases)
  try {
    const { upper, work } = native.places.slot(id, instance.slot)
    await watch.measure('copy', async () => {
      await rejoinLinks(tools, instance, work)
      await copyUpper(tools, upper, layer.path)
    })
    killPoint('snapshot:copied')
  } finally {
    if (!wasFrozen) await watch.measure('thaw', () => continueOriginal(native, cgroups))
  }
  const layers = [layer, ...instance.layers]
  const image: NativeImage = { kind: 'native', captured: ['filesystem'], layers, pinned: false }
  const thawedAt = performance.now()
  return { image, imagesBytes: 0, memory: null, lost: [], frozenAt, thawedAt, earlierStopMs: 0 }
}

/** Undoes `capture`, whatever step it ended at. Nothing inside can tell that anything happened. */
export async function uncapture(
  native: Native,
  id: EnvironmentId,
  instance: NativeInstance,
  snapshot: SnapshotId,
): Promise<void> {
  await explained('undoing a snapshot', async () => {
    const images = join(native.places.snapshot(snapshot), 'images')
    // Files were moved only if processes were captured, too; a copy must not overwrite the originals.
    const tookFiles = await pathExists(images)
    const slot = native.places.slot(id, instance.slot)
    if (tookFiles) {
      await dumpsEnded(native.tools, images)
      // Nothing inside may run before all its files are back.
      if (instance.files === undefined) await unseal(native.places.sealed(snapshot), slot.upper)
    }
    try {
      if (tookFiles) await restoreNames(native.tools, slot, images, instance)
    } finally {
      const cgroups = native.cgroups(id, instance.slot)
      if (await pathExists(cgroups[0])) await continueOriginal(native, cgroups)
    }
  })
  await discard(native, snapshot)
}

async function restoreNames(
  tools: Tools,
  slot: EnvironmentPlaces,
  images: string,
  instance: NativeInstance,
): Promise<void> {
  if (instance.files === undefined) await restoreIndexLinks(slot)
  if (isAlive(instance.process)) await unlinkNamelessFiles(tools, images, instance.process.pid)
}

/** Removes a snapshot's files. */
export async function discard(native: Native, snapshot: SnapshotId): Promise<void> {
  await native.remembered.ended(snapshot)
  const files = native.places.filesIn(snapshot)
  await deleteSubvolumes(native.tools, [files])
  await removeTree(native.tools, native.places.snapshot(snapshot))
  await removeTree(native.tools, native.places.sealed(snapshot))
}
