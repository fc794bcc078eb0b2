import type { MemoryReading } from '../../linux/memory-pressure.ts'
import type { SnapshotRecord } from '../../model/snapshot.ts'

/** Left for the rest of the machine, as a part of all memory. */
const reserve = 0.05

/**
 * The most memory that one copy of a snapshot takes as soon as it is made. What is mapped costs nothing until
 * it is written. In snapshots of earlier versions, only the sum over all processes is known.
 */
export function neededBytes({ memory }: Pick<SnapshotRecord, 'memory'>): number {
  return memory?.neededBytes ?? memory?.copiedBytes ?? 0
}

/** The least that it takes: if processes have as much in common with their parents as they had before. */
export function leastBytes(snapshot: Pick<SnapshotRecord, 'memory'>): number {
  return neededBytes(snapshot) - (snapshot.memory?.commonBytes ?? 0)
}

/** What copies may take of this machine's memory. */
export function freeBytes({
  availableBytes,
  totalBytes,
}: Pick<MemoryReading, 'availableBytes' | 'totalBytes'>): number {
  return Math.max(0, Math.floor(availableBytes - reserve * totalBytes))
}

export interface Demand {
  /** of the copies to be made */
  readonly neededBytes: number
  /** according to the kernel */
  readonly freeBytes: number
  /** promised to copies that others are making; the kernel may count some of it as used already */
  readonly reservedBytes: number
}

/** `later`: it may fit once the copies of others are made. */
export type Fit = 'now' | 'later' | 'never'

export function fitOf({ neededBytes: needed, freeBytes: free, reservedBytes }: Demand): Fit {
  if (needed <= Math.max(0, free - reservedBytes)) return 'now'
  return needed <= free ? 'later' : 'never'
}

export interface Staggering {
  /** of one copy */
  readonly neededBytes: number
  readonly freeBytes: number
  readonly most: number
}

/**
 * How many copies may be made at the same time. While one is made, its pages are in memory twice: in the
 * page cache, and in the copy.
 */
export function copiesAtOnce({ neededBytes: each, freeBytes: free, most }: Staggering): number {
  if (each === 0) return most
  return Math.max(1, Math.min(most, Math.floor(free / (2 * each))))
}
