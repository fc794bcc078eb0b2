import { stopwatch } from '../../linux/stopwatch.ts'
import type { SnapshotId } from '../../model/ids.ts'
import type { CaptureOptions, CaptureResult, Ref } from '../backend.ts'
import { attributesOf } from './cell/environment-directory.ts'
import { withoutIoLimits } from './cell/io-limits.ts'
import { explained, explainedIfFull } from './host-failures.ts'
import { toImageRecord } from './image.ts'
import { fromRecord, type NativeInstance } from './instance.ts'
import type { Native } from './native.ts'
import { overCurrentLayers } from './overlay/squash/current-layers.ts'
import { discardSquashed } from './overlay/squash/squash.ts'
import { upperIn } from './overlay/subvolumes/subvolumes.ts'
import { requireRoom } from './overlay/volumes/require-room.ts'
import { type Capture, capture, captureFiles, discard, uncapture } from './snapshot/capture.ts'
import { captureInPlace, copySubvolume } from './snapshot/capture-in-place.ts'

const doing = 'taking a snapshot'

export async function takeSnapshot(
  native: Native,
  ref: Ref,
  snapshot: SnapshotId,
  { mode, memory, after, head, live, signal }: CaptureOptions,
): Promise<CaptureResult> {
  const { places } = native
  await requireRoom(native, doing)
  const watch = stopwatch()
  const instance = fromRecord(ref.instance)
  const subject = {
    id: ref.id,
    instance,
    snapshot,
    memory,
    after,
    head: head?.id ?? null,
    live,
    signal,
  }
  const { whole, files } = waysOf(instance)
  // The files are flushed before the freeze, which must not wait for a limit.
  const take = () =>
    withoutIoLimits(native.cgroups(ref.id, instance.slot), () =>
      (mode === 'full' ? whole : files)(native, subject, watch),
    )
  const taken = await explainedIfFull(places, doing, () => explained(doing, take))
  const image = await overCurrentLayers(taken.image, instance.layers, head)
  native.remembered.begin(snapshot, image, subject.head)
  const root = await attributesOf(
    image.files === undefined ? places.sealed(snapshot) : upperIn(places.filesIn(snapshot)),
  )
  return {
    image: toImageRecord({ ...image, root }),
    captured: image.captured,
    original: originalAfter(taken, instance),
    durable: false,
    filesBytes: null,
    imagesBytes: taken.imagesBytes,
    memory: taken.memory,
    frozenAt: taken.frozenAt,
    thawedAt: taken.thawedAt,
    earlierStopMs: taken.earlierStopMs,
    phases: watch.phases,
    ...(taken.lost.length > 0 && { lost: taken.lost }),
  }
}

/** How to capture everything, and only the files, of an environment that writes to such a place. */
function waysOf({ files }: NativeInstance) {
  return files === 'subvolume'
    ? { whole: captureInPlace, files: copySubvolume }
    : { whole: capture, files: captureFiles }
}

function originalAfter(
  { thawedAt }: Capture,
  { files }: NativeInstance,
): CaptureResult['original'] {
  if (thawedAt !== null) return 'runs'
  return files === 'subvolume' ? 'stays-frozen' : 'awaits-successor'
}

/** Moves sealed files back to the upper, if there is a cell that needs them. */
export async function abandonSnapshot(
  native: Native,
  ref: Ref | null,
  snapshot: SnapshotId,
): Promise<void> {
  if (ref === null) await discardSnapshot(native, snapshot)
  else await uncapture(native, ref.id, fromRecord(ref.instance), snapshot)
}

export async function discardSnapshot(native: Native, snapshot: SnapshotId): Promise<void> {
  await discardSquashed(native, snapshot)
  await discard(native, snapshot)
}
