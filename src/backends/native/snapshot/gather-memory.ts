import type { SnapshotRecord } from '../../../model/snapshot.ts'
import type { Places } from '../places.ts'
import { gatherSnapshot } from './gather-snapshot.ts'
import { holdingsOf, ownBytes } from './holdings.ts'

/** Gathers what a snapshot maps; null if it was nothing but its own, else what is its own now. */
export async function gatherMemory(
  places: Places,
  { id, captured }: SnapshotRecord,
): Promise<number | null> {
  if (!captured.includes('processes') || !(await gatherSnapshot(places, id))) return null
  return ownBytes(await holdingsOf(places, id))
}
