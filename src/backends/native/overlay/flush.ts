import { writeManifest } from '../../../criu/manifest.ts'
import { currentHome } from '../../../criu/memory/generation.ts'
import { mustRun } from '../../../linux/run-tool.ts'
import type { SnapshotRecord } from '../../../model/snapshot.ts'
import type { Native } from '../native.ts'
import { treeBytes } from '../stats/stats.ts'

/** Waits until a snapshot's files and images are on the disk, and counts the files. */
export async function flush(
  native: Native,
  snapshot: SnapshotRecord,
): Promise<{ filesBytes: number }> {
  await mustRun('flushing a snapshot', 'sync', ['--file-system', native.places.data])
  // Only now it is certain how much the pages take.
  if (snapshot.captured.includes('processes')) {
    await writeManifest(await currentHome(native.places.snapshot(snapshot.id)))
  }
  return { filesBytes: await treeBytes(native.places.sealed(snapshot.id)) }
}
