import type { DumpImages } from '../../../criu/images/dump-images.ts'
import { linkRemapsOf } from '../../../criu/images/link-remaps.ts'
import { currentHome } from '../../../criu/memory/generation.ts'
import type { DumpInFiles } from '../../../criu/memory/share-dump.ts'
import { linkNamelessFiles, unlinkNamelessFiles } from '../../../criu/nameless-files.ts'
import { lostDevices } from '../../../criu/pairs/lone-devices.ts'
import type { TrackedLife } from '../../../criu/tracking/tracker.ts'
import { writeImages } from '../../../criu/write-images.ts'
import { killPoint } from '../../../linux/kill-points.ts'
import type { Stopwatch } from '../../../linux/stopwatch.ts'
import type { Captured, Lost } from '../../../model/snapshot.ts'
import { isFrozen } from '../cell/freezer.ts'
import type { NativeImage } from '../image.ts'
import type { Native } from '../native.ts'
import { withoutLimit } from '../overlay/subvolumes/disk-limits.ts'
import {
  deleteSubvolumes,
  flushSubvolume,
  snapshotSubvolume,
} from '../overlay/subvolumes/subvolumes.ts'
import { trackedLife } from './baselines.ts'
import type { Capture } from './capture.ts'
import { continueOriginal, freezeNoting, holdOriginal } from './continue-original.ts'
import { holdingsOf, ownBytes } from './holdings.ts'
import { dropUnmapped, noteNotMapped, prepareRemap, whyNotMapped } from './remapping.ts'
import {
  type Dumped,
  dumpProcesses,
  type FullSubject,
  type Subject,
  settleDump,
  shareImages,
  storeImages,
} from './take-processes.ts'

/**
 * Captures processes and files of an environment whose files are in a subvolume. Nothing is replaced: it
 * stops, everything is copied, and it continues. What need not happen in the stop happens after it.
 */
export async function captureInPlace(
  native: Native,
  subject: FullSubject,
  watch: Stopwatch,
): Promise<Capture> {
  const { id, instance, snapshot, after } = subject
  await watch.measure('flush', () => flushFiles(native, subject))
  const copy = () => copyFiles(native, subject)
  const dumped = await dumpProcesses(native, subject, watch, copy)
  killPoint('snapshot:dumped')
  const settled = await watch.measure('settle', () => settleDump(native, subject, dumped))
  if (linkRemapsOf(settled).length > 0) {
    await watch.measure('names', () => copyWithNames(native, subject, settled))
  }
  killPoint('snapshot:copied')
  const continues = after === 'continue'
  const goOn = continues ? continueOriginal : holdOriginal
  const cgroups = native.cgroups(id, instance.slot)
  const how = await howToContinue(native, subject, dumped)
  const tracked = how === null ? undefined : trackedLife(native, subject, how)
  const share = () => shareImages(native, subject, settled, dumped)
  const early = how === 'remapped' ? await shareEarly(native, subject, settled, watch, share) : null
  const noted = await watch.measure('thaw', () => goOn(native, cgroups, tracked))
  const thawedAt = continues ? performance.now() : null
  killPoint('snapshot:thawed')
  if (early !== null) await dropUnmapped(native, subject, settled)
  const stored = await watch.measure('surgery', async () =>
    storeImages(native, subject, early ?? (await share()), { ...dumped, noted }),
  )
  const devices = await watch.measure('devices', () => findLostDevices(native, subject, dumped))
  return {
    image: imageOf(subject, ['filesystem', 'processes', 'terminal']),
    imagesBytes: ownBytes(await holdingsOf(native.places, snapshot)),
    ...stored,
    lost: [...stored.lost, ...devices],
    frozenAt: dumped.frozenAt,
    thawedAt,
    earlierStopMs: dumped.earlierStopMs,
  }
}

async function findLostDevices(
  { places, tools }: Native,
  { head, snapshot }: FullSubject,
  { verdicts }: Dumped,
): Promise<readonly Lost[]> {
  const place = { home: places.snapshot(snapshot), files: places.filesIn(snapshot) }
  const before = head && (await currentHome(places.snapshot(head)))
  return await lostDevices(tools, place, before, verdicts)
}

/** How what is written from now on will be found; null: it will not. */
async function howToContinue(
  native: Native,
  subject: Subject,
  { verdicts }: Dumped,
): Promise<TrackedLife['how'] | null> {
  const { kind } = await native.tracking()
  const whyNot = kind === 'remapped' ? whyNotMapped(verdicts) : null
  if (whyNot !== null) await noteNotMapped(native, subject, whyNot)
  return kind === 'full' || whyNot !== null ? null : kind
}

/** The original can map the files of the snapshot only if they are there before it continues. */
async function shareEarly(
  native: Native,
  subject: Subject,
  settled: DumpImages,
  watch: Stopwatch,
  share: () => Promise<DumpInFiles>,
): Promise<DumpInFiles> {
  const shared = await watch.measure('share', share)
  await watch.measure('plan', () => prepareRemap(native, subject, settled, shared))
  return shared
}

/** A copy of the subvolume refers to files of exactly these layers, so they cannot be exchanged. */
function imageOf({ instance }: Subject, captured: readonly Captured[]): NativeImage {
  return { kind: 'native', captured, layers: instance.layers, files: 'subvolume', pinned: true }
}

/** Nothing writes while the environment is frozen, so this can run at any moment of the stop. */
async function copyFiles({ places, tools }: Native, subject: Subject): Promise<void> {
  const { id, instance, snapshot } = subject
  await deleteSubvolumes(tools, [places.filesIn(snapshot)])
  await snapshotSubvolume(tools, places.filesOf(id, instance.slot), places.filesIn(snapshot))
}

/**
 * Copies the files again with names for those that are open without one. Only the snapshot needs these
 * names, so the environment gets rid of them at once.
 */
async function copyWithNames(native: Native, subject: Subject, images: DumpImages): Promise<void> {
  const { places, tools } = native
  const { id, instance } = subject
  const { pid } = instance.process
  const written = await writeImages(images)
  await withoutLimit(tools, places.filesOf(id, instance.slot), instance.disk, async () => {
    await linkNamelessFiles(tools, written, pid)
    killPoint('snapshot:named')
    await copyFiles(native, subject)
    await unlinkNamelessFiles(tools, images.directory, pid)
  })
}

/** Shortens the stop: in it, the copy waits for everything that is not on disk yet. */
async function flushFiles({ places, tools }: Native, subject: Subject): Promise<void> {
  const { id, instance, snapshot } = subject
  const from = places.filesOf(id, instance.slot)
  await flushSubvolume(tools, from, `${places.filesIn(snapshot)}.flush`)
}

/** Captures only the files. The processes stop meanwhile, so that nothing is half-written. */
export async function copySubvolume(
  native: Native,
  subject: Subject,
  watch: Stopwatch,
): Promise<Capture> {
  const { id, instance } = subject
  const cgroups = native.cgroups(id, instance.slot)
  await watch.measure('flush', () => flushFiles(native, subject))
  const wasFrozen = isFrozen(cgroups)
  const { frozenAt, phases } = await freezeNoting(native, cgroups)
  watch.add(phases)
  try {
    await watch.measure('files', () => copyFiles(native, subject))
    killPoint('snapshot:copied')
  } finally {
    if (!wasFrozen) await watch.measure('thaw', () => continueOriginal(native, cgroups))
  }
  return {
    image: imageOf(subject, ['filesystem']),
    imagesBytes: 0,
    memory: null,
    lost: [],
    frozenAt,
    thawedAt: performance.now(),
    earlierStopMs: 0,
  }
}
