import { join } from 'node:path'
import { makeCopyVariant } from '../../../criu/image-variants.ts'
import { withAttributes } from '../../../criu/images/attributes.ts'
import type { DumpImages } from '../../../criu/images/dump-images.ts'
import { lockedOnFault } from '../../../criu/images/memory/locked.ts'
import { withoutLoneData } from '../../../criu/images/memory/lone-data.ts'
import { withCounters } from '../../../criu/images/noted/counters.ts'
import { withNoted } from '../../../criu/images/noted/noted.ts'
import { protectionsIn } from '../../../criu/images/noted/protections.ts'
import { stoppedChildren } from '../../../criu/images/noted/stopped-children.ts'
import type { Noted } from '../../../criu/images/noted.ts'
import type { OpenEnd } from '../../../criu/images/tcp/open-ends.ts'
import { restorableConnections } from '../../../criu/images/tcp/put-back.ts'
import { withMastersFirst } from '../../../criu/images/terminals.ts'
import { rearmTimers } from '../../../criu/images/timers.ts'
import { withWaits } from '../../../criu/images/waits.ts'
import { lossesOf } from '../../../criu/losses/losses.ts'
import { dumpDespiteLostNames } from '../../../criu/lost-names.ts'
import { neededOf } from '../../../criu/memory/needed-bytes.ts'
import { copyLeftovers, type DumpInFiles, shareDump } from '../../../criu/memory/share-dump.ts'
import { judgeProcesses, surveyProcesses, type Verdicts } from '../../../criu/memory/verdicts.ts'
import { requireSessions } from '../../../criu/sessions.ts'
import { settleNames } from '../../../criu/settle-names.ts'
import {
  acceptPatienceMs,
  openConnections,
  requireSteadyConnections,
  unreadable,
} from '../../../criu/tcp-connections.ts'
import { type Baseline, forgetDump } from '../../../criu/tracking/baseline.ts'
import { imagesMode, writeImages } from '../../../criu/write-images.ts'
import { mkdir, rm } from '../../../linux/files/quick-fs.ts'
import { killPoint } from '../../../linux/kill-points.ts'
import type { Stopwatch } from '../../../linux/stopwatch.ts'
import type { MemoryMode } from '../../../model/environment.ts'
import type { EnvironmentId, SnapshotId } from '../../../model/ids.ts'
import type { Lost, MemoryTracking, SnapshotMemory } from '../../../model/snapshot.ts'
import type { NativeInstance } from '../instance.ts'
import type { Native } from '../native.ts'
import { upperIn } from '../overlay/subvolumes/subvolumes.ts'
import { layerArguments } from '../overlay/view/native-view.ts'
import { liveView } from '../overlay/view/view-files.ts'
import { privateMemory } from '../stats/private-memory.ts'
import { baselineOf, completed, dropBaseline, trackingOf } from './baselines.ts'
import { continueOriginal, noteWaits } from './continue-original.ts'
import { liveCopy } from './copy-live.ts'
import { holdStill } from './hold-still.ts'
import { refuseTraced } from './traced.ts'

/** The life to capture, and the snapshot to make. */
export interface Subject {
  readonly id: EnvironmentId
  readonly instance: NativeInstance
  readonly snapshot: SnapshotId
}

export interface FullSubject extends Subject {
  readonly memory: MemoryMode
  /** the snapshot that the environment came from, or took last */
  readonly head: SnapshotId | null
  /** what the environment does once it is captured */
  readonly after: 'continue' | 'stay-frozen'
  /** whether memory is copied while it runs; undefined: if much of it is new */
  readonly live: boolean | undefined
  /** gives up while nothing stands still */
  readonly signal?: AbortSignal | undefined
}

/** A dump of the processes of an environment, which are frozen. */
export interface Dumped {
  readonly images: DumpImages
  readonly verdicts: Verdicts
  /** TCP connections of which the kernel has one end */
  readonly openEnds: readonly OpenEnd[]
  /** memory that only they use */
  readonly privateBytes: number
  /** whether they can be restored only over exactly the layers they have now */
  readonly pinned: boolean
  /** what the dump left out because it has not changed; or why it left nothing out */
  readonly baseline: Baseline | string
  readonly tracking: MemoryTracking
  /** when they stopped, in the time of `performance.now()` */
  readonly frozenAt: number
  /** how long they stood still before, for a live copy */
  readonly earlierStopMs: number
}

/**
 * Reads programs before the freeze, to keep the pause short. `whenFrozen` runs beside the dump, and again
 * if that has to be repeated.
 */
export async function dumpProcesses(
  native: Native,
  subject: FullSubject,
  watch: Stopwatch,
  whenFrozen: () => Promise<void>,
): Promise<Dumped> {
  const { places, tools, verdicts: known, workers } = native
  const { id, instance, snapshot, memory: mode } = subject
  const groups = native.cgroups(id, instance.slot)
  const [cgroup] = groups
  const directory = join(places.snapshot(snapshot), 'images')
  workers.prepare(2)
  refuseTraced(cgroup)
  const survey = await watch.measure('judge', () => surveyProcesses(known, cgroup, mode))
  const privateBytes = await privateMemory(native.layout, groups)
  const earlier = await watch.measure('baseline', () => baselineOf(native, subject))
  const live = await liveCopy(native, subject, earlier, judgeProcesses(survey, cgroup, mode), watch)
  const baseline = live?.baseline ?? earlier
  const since = typeof baseline === 'string' ? null : baseline.directory
  const layers = layerArguments(liveView(places, id, instance))
  const request = { pid: instance.process.pid, images: directory, cgroup, tracking: since, layers }
  const patientUntil = performance.now() + acceptPatienceMs
  const { result, phases, frozenAt } = await holdStill(groups, {
    prepare: async () => {
      subject.signal?.throwIfAborted()
      workers.prepare(2)
      await rm(directory, { recursive: true, force: true })
      await mkdir(directory, { recursive: true, mode: imagesMode })
      if (typeof baseline !== 'string') forgetDump(baseline)
      await noteWaits(native, groups, { images: directory, listings: since })
    },
    letGo: () => continueOriginal(native, groups),
    work: async (tried) => {
      killPoint('snapshot:frozen')
      // Comes first, to read what processes map before CRIU adds its own code.
      const verdicts = judgeProcesses(survey, cgroup, mode)
      const dumping = tried.measure('dump', () => dumpDespiteLostNames(tools, workers, request))
      const beside = whenFrozen()
      // Neither may still be running when the other fails.
      await Promise.allSettled([dumping, beside])
      const dumped = await dumping
      await beside
      requireSteadyConnections(dumped.images)
      requireSessions(dumped.images, verdicts)
      const openEnds = openConnections(dumped.images, instance.process.pid)
      const isPatient = instance.files === undefined || performance.now() < patientUntil
      const lossy = isPatient ? unreadable(openEnds) : null
      if (lossy !== null) throw lossy
      return { verdicts, openEnds, ...dumped }
    },
  })
  watch.add(phases)
  const { verdicts, images, openEnds, watchesByHandle } = result
  const tracking = await trackingOf(native, subject, baseline, images)
  const dump = {
    images,
    verdicts,
    openEnds,
    privateBytes,
    baseline,
    tracking,
    pinned: watchesByHandle,
  }
  return { ...dump, frozenAt, earlierStopMs: live?.stopMs ?? 0 }
}

/** Makes names safe, while the environment is frozen, and rearms timers. */
export async function settleDump(
  { tools }: Native,
  { instance }: Subject,
  { images: dumped }: Dumped,
): Promise<DumpImages> {
  const named = await settleNames(tools, dumped, instance.process.pid)
  const settled = withMastersFirst(withoutLoneData(named))
  return settled.with({ 'files.img': rearmTimers(settled.files) })
}

/** Moves memory into files that copies map. Needs nothing of the environment. */
export async function shareImages(
  { places }: Native,
  { id, instance, snapshot, memory: mode }: FullSubject,
  settled: DumpImages,
  { verdicts, baseline }: Pick<Dumped, 'verdicts' | 'baseline'>,
): Promise<DumpInFiles> {
  const { pages: own } = places.slot(id, instance.slot)
  const from = typeof baseline === 'string' ? [own] : [own, baseline.previous.pages]
  const { images: whole, reached } = await completed(settled, baseline, verdicts)
  const sharing = { snapshot, pages: places.pages(snapshot), from, mode, verdicts, reached }
  return await shareDump(whole, sharing)
}

interface ToStore extends Pick<Dumped, 'privateBytes' | 'tracking' | 'verdicts' | 'openEnds'> {
  readonly noted: Noted
}

/** What the images need besides CRIU's own. */
function withNotes(images: DumpImages, { waits, attributes }: Noted): DumpImages {
  const locked = lockedOnFault(withWaits(images, waits))
  const marked = withCounters(locked.images, attributes)
  return withAttributes(marked, [
    ...attributes,
    ...locked.attributes,
    ...protectionsIn(images),
    ...stoppedChildren(images, attributes),
  ])
}

/** What the record of the snapshot says about its processes. */
export interface Stored {
  readonly memory: SnapshotMemory
  readonly lost: readonly Lost[]
}

/** Writes the images. */
export async function storeImages(
  native: Native,
  subject: Subject,
  shared: DumpInFiles,
  { privateBytes, tracking, verdicts, openEnds, noted }: ToStore,
): Promise<Stored> {
  const { places } = native
  const { snapshot } = subject
  const { images: dumped, memory } = shared
  const { images, attributes } = restorableConnections(dumped, openEnds)
  await copyLeftovers(shared, places.pages(snapshot))
  const complete = withNoted(images, changedFilesOf(native, subject), noted)
  const all = { ...noted, attributes: [...noted.attributes, ...attributes] }
  const written = await writeImages(withNotes(complete, all))
  await makeCopyVariant(places.snapshot(snapshot), written)
  await dropBaseline(native, snapshot)
  return {
    memory: { ...memory, ...neededOf(images, privateBytes), tracking },
    lost: lossesOf(images, verdicts, { openEnds, attributes: noted.attributes }),
  }
}

function changedFilesOf({ places }: Native, { id, instance, snapshot }: Subject): string {
  return instance.files === undefined
    ? places.slot(id, instance.slot).upper
    : upperIn(places.filesIn(snapshot))
}
