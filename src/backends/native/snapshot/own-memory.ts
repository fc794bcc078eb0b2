import { ownMemory } from '../../../criu/memory/own-memory.ts'
import type { SnapshotRecord } from '../../../model/snapshot.ts'
import type { Native } from '../native.ts'
import { holdingsOf, ownBytes } from './holdings.ts'

/** Makes borrowed memory of a snapshot its own; returns its new size, or null if it borrowed none. */
export async function ownSnapshotMemory(
  { places, tools }: Native,
  { id, captured }: SnapshotRecord,
): Promise<number | null> {
  if (!captured.includes('processes')) return null
  if (!(await ownMemory(tools, places.snapshot(id), id))) return null
  return ownBytes(await holdingsOf(places, id))
}
