import { join } from 'node:path'
import type { DumpImages } from '../../../criu/images/dump-images.ts'
import type { Verdicts } from '../../../criu/memory/verdicts.ts'
import { dumpOfMapped } from '../../../criu/remap/outcome.ts'
import { type Baseline, cleanPages, openBaseline } from '../../../criu/tracking/baseline.ts'
import { type InheritedDump, inheritDump } from '../../../criu/tracking/inherit-dump.ts'
import type { TrackedLife } from '../../../criu/tracking/tracker.ts'
import { leaveOutUnchanged } from '../../../criu/tracking/unchanged.ts'
import { removeTree } from '../../../linux/files/remove-tree.ts'
import type { SnapshotId } from '../../../model/ids.ts'
import type { MemoryTracking } from '../../../model/snapshot.ts'
import type { Native } from '../native.ts'
import type { FullSubject, Subject } from './take-processes.ts'

/** Prepares a dump of what was written since the head; or says why it has to be a full one. */
export async function baselineOf(
  native: Native,
  { id, instance, snapshot, head }: FullSubject,
): Promise<Baseline | string> {
  const { places, tools } = native
  const { kind, why } = await native.tracking()
  if (kind !== 'written') return head === null ? 'it is the first snapshot' : why
  return await openBaseline(tools, {
    head: head && { id: head, directory: places.snapshot(head) },
    life: places.slot(id, instance.slot).dir,
    directory: trackingPlace(native, snapshot),
  })
}

/** As the snapshot's record has it. */
export async function trackingOf(
  native: Native,
  { id, instance, head }: FullSubject,
  baseline: Baseline | string,
  dumped: DumpImages,
): Promise<MemoryTracking> {
  if (typeof baseline !== 'string') return baseline.why
  const { kind, why } = await native.tracking()
  if (kind !== 'remapped' || head === null) return { mode: 'full', why: baseline }
  return dumpOfMapped(dumped, { why, life: native.places.slot(id, instance.slot).dir })
}

/** Adds what the dump left out. */
export async function completed(
  images: DumpImages,
  baseline: Baseline | string,
  verdicts: Verdicts,
): Promise<InheritedDump> {
  if (typeof baseline === 'string') return { images, reached: new Map() }
  const { previous } = baseline
  const lean = await leaveOutUnchanged({ images, clean: cleanPages(baseline) }, previous)
  return await inheritDump(lean.images, { previous, clean: lean.clean, verdicts })
}

/** Removes what only the dump and the surgery needed. */
export async function dropBaseline(native: Native, snapshot: SnapshotId): Promise<void> {
  await removeTree(native.tools, trackingPlace(native, snapshot))
}

export function trackingPlace({ places }: Native, snapshot: SnapshotId): string {
  return join(places.snapshot(snapshot), 'tracking')
}

/** The life that goes on after a snapshot, and whose writes are found from then on. */
export function trackedLife(
  { places }: Native,
  { id, instance, snapshot }: Subject,
  how: TrackedLife['how'],
): TrackedLife {
  const { dir: directory } = places.slot(id, instance.slot)
  return { directory, agent: instance.process.pid, since: snapshot, how }
}
