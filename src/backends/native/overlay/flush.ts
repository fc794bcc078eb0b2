import { writeManifest } from '../../../criu/manifest.ts'
import { currentHome } from '../../../criu/memory/generation.ts'
import { treeBytes } from '../../../linux/files/tree-bytes.ts'
import type { SnapshotRecord } from '../../../model/snapshot.ts'
import { imageOf } from '../image.ts'
import type { Native } from '../native.ts'
import { bytesWritten } from './subvolumes/subvolumes.ts'

/** Waits until a snapshot is on disk, and counts the bytes of its files. */
export async function flush(
  native: Native,
  snapshot: SnapshotRecord,
): Promise<{ filesBytes: number }> {
  const { places, tools } = native
  const { files } = imageOf(snapshot)
  const volumes = files === 'subvolume' ? [places.data, places.files] : [places.data]
  await tools.mustRun('flushing a snapshot', 'sync', ['--file-system', ...volumes])
  // The size of the pages is final only now.
  if (snapshot.captured.includes('processes')) {
    await writeManifest(await currentHome(places.snapshot(snapshot.id)))
  }
  if (files === 'subvolume') native.ahead.want(places.filesIn(snapshot.id))
  return { filesBytes: await filesBytes(native, snapshot) }
}

/** What this snapshot adds to the one before. */
function filesBytes({ places, tools }: Native, snapshot: SnapshotRecord): Promise<number> {
  const { id, parent } = snapshot
  if (imageOf(snapshot).files === undefined) return treeBytes(tools, places.sealed(id))
  return bytesWritten(tools, places.filesIn(id), parent && places.filesIn(parent))
}
