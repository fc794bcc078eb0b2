import { currentHome } from '../../../criu/memory/generation.ts'
import { reclaim } from '../../../criu/reclaim/reclaim.ts'
import type { SnapshotRecord } from '../../../model/snapshot.ts'
import type { Native } from '../native.ts'

/** Gives back memory on disk that these snapshots hold of removed ones and do not use; returns what is still mapped. */
export async function reclaimMemory(
  { places, tools }: Native,
  snapshots: readonly SnapshotRecord[],
): Promise<number> {
  const withMemory = snapshots.filter(({ captured }) => captured.includes('processes'))
  const homes = withMemory.map(async ({ id }) => {
    return { snapshot: id, path: await currentHome(places.snapshot(id)) }
  })
  return await reclaim(tools, await Promise.all(homes))
}
