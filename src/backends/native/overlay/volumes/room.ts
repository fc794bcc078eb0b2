import { statSync } from 'node:fs'
import { join } from 'node:path'
import { ifExists } from '../../../../linux/files/if-exists.ts'
import { statfs } from '../../../../linux/files/quick-fs.ts'
import type { Places } from '../../places.ts'

/** The disk of the home. */
export interface HostRoom {
  readonly free: number
  /** what it needs for itself: environments may not write it, and operations begin with half of it */
  readonly reserve: number
}

/** The volume of files, next to what the disk below it can still take. All in bytes. */
export interface Room {
  readonly host: HostRoom
  /** current size of the file system, and the size that its file gives it */
  readonly size: number
  readonly capacity: number
  /** what environments can still write */
  readonly free: number
  /** what a file keeps from them: free space in the middle of the volume */
  readonly ballast: number
  /** what the disk still holds of files that are deleted */
  readonly reclaimable: number
}

const mib = 1024 ** 2

/** A twentieth of the disk, within these bounds. */
const leastReserved = 256 * mib
const mostReserved = 1024 * mib

export async function hostRoom({ home }: Places): Promise<HostRoom> {
  const { bavail, blocks, bsize } = await statfs(home)
  const part = (blocks * bsize) / 20
  const reserve = Math.min(mostReserved, Math.max(leastReserved, part))
  return { free: bavail * bsize, reserve }
}

/** Whether others could fill the disk before anybody looks again. */
export function isNearlyFull({ free, reserve }: HostRoom): boolean {
  return free < 8 * reserve
}

/** A file without content that holds free space. */
export function ballastIn({ files }: Places): string {
  return join(files, 'ballast')
}

/** The volume must be mounted. */
export async function measureRoom(places: Places): Promise<Room> {
  const [host, inside] = await Promise.all([hostRoom(places), statfs(places.files)])
  const { size: capacity, blocks } = statSync(places.filesVolume)
  const ballast = ifExists(() => statSync(ballastIn(places)))?.size ?? 0
  const used = (inside.blocks - inside.bfree) * inside.bsize - ballast
  return {
    host,
    size: inside.blocks * inside.bsize,
    capacity,
    free: inside.bavail * inside.bsize,
    ballast,
    reclaimable: Math.max(0, blocks * 512 - used),
  }
}

/** Smaller differences are left alone; it is better to give too little. */
const leastTaken = 4 * mib
const leastGiven = 32 * mib
const partTolerated = 1 / 16

/**
 * How much less environments should be able to write than they can, or more if it is negative; zero if it is
 * about right. The nominal size may exceed the disk as long as there is plenty: a large btrfs is faster.
 */
export function surplusOf({ host, free, ballast, size, capacity }: Room): number {
  const missing = ballast + Math.max(0, capacity - size)
  if (!isNearlyFull(host)) return missing === 0 ? 0 : -missing
  const allowed = Math.max(0, host.free - host.reserve)
  const surplus = free - allowed
  if (surplus > Math.max(leastTaken, allowed * partTolerated)) return surplus
  return surplus < -leastGiven && missing > 0 ? Math.max(surplus, -missing) : 0
}
