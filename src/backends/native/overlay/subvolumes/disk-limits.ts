import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Tools } from '../../../../linux/tools.ts'
import { PrerequisiteError } from '../../../../model/errors.ts'
import type { Log } from '../../../../model/log.ts'
import type { DiskLimit } from '../../instance.ts'

/** A kernel that knows simple quotas has this file once it has btrfs. */
const feature = '/sys/fs/btrfs/features/simple_quota'

/** Refuses a limit on files that cannot be limited. */
export function requireDiskLimits(files: 'subvolume' | 'directory'): void {
  if (files === 'subvolume' && existsSync(feature)) return
  const why =
    files === 'directory'
      ? 'the files of this environment lie on ext4'
      : 'this kernel has no simple quotas for btrfs'
  throw new PrerequisiteError(`a disk limit needs simple quotas of btrfs: ${why}`, {
    remedy: `${remedies[files]}, or leave out --disk and set limits.disk to none`,
    detail: { capability: 'limits', missing: 'simple_quota' },
  })
}

const remedies = {
  directory:
    'set volume to auto or btrfs for new environments (`forkpoint doctor` says what it lacks)',
  subvolume: 'use Linux 6.7 or newer',
}

export interface DiskUse extends DiskLimit {
  readonly usedBytes: number
}

/** Lets the files in a subvolume take this much, and measures how much they take. */
async function limitSubvolume(
  tools: Tools,
  path: string,
  bytes: number,
  leastRoom: number,
): Promise<DiskUse> {
  const args = ['subvolume-limit', path, String(bytes), String(leastRoom)]
  const answer = await tools.runCell('limiting the disk space of an environment', args)
  const [used = '', counter = ''] = answer.trim().split(' ')
  return { bytes, counter, usedBytes: Number(used) + waitingIn(counter) }
}

/** What was written but has no place on disk yet. */
function waitingIn(counter: string): number {
  try {
    return Number(readFileSync(join(counter, 'rsv_data'), 'utf8'))
  } catch {
    // A container may not show it. It is then counted a little later.
    return 0
  }
}

/** Space for the names that a snapshot gives to files without one. Nothing inside runs meanwhile. */
export async function withoutLimit(
  tools: Tools,
  path: string,
  disk: DiskLimit | undefined,
  work: () => Promise<void>,
): Promise<void> {
  if (disk === undefined) return await work()
  await tools.runCell('lifting the disk limit', ['subvolume-unlimit', path])
  try {
    await work()
  } finally {
    await limitSubvolume(tools, path, disk.bytes, 0)
  }
}

/** What a copy of a full environment may still write: its agent gives it a name before anything else. */
const firstRoom = 4 * 1024 ** 2

interface Watched {
  readonly disk: DiskLimit
  /** what the kernel counted when the limit was set */
  readonly counts: Counts | null
  readonly setAt: number
  readonly tookMs: number
}

const lookEveryMs = 100
/** Setting a limit ends a transaction and reads the whole tree of a subvolume, so it rests in between. */
const restFactor = 10
/** With more room than this left, nobody needs what was deleted yet. */
const leastLowBytes = 256 * 1024 ** 2

/**
 * Keeps the limits of environments right. The kernel counts what they wrote, also while only a snapshot
 * holds it, so a limit has to be set again after something was deleted (native/cell/subvolumes/limit.c).
 */
export class DiskLimits implements Disposable {
  readonly #tools: Tools
  readonly #log: Log
  readonly #watched = new Map<string, Watched>()
  readonly #busy = new Set<string>()
  #timer: NodeJS.Timeout | null = null

  constructor(tools: Tools, log: Log) {
    this.#tools = tools
    this.#log = log
  }

  /** Sets the limit of a new life, and from then on keeps it right. */
  async begin(path: string, bytes: number): Promise<DiskUse> {
    return await this.#limit(path, bytes, firstRoom)
  }

  /** Sets the limit of a subvolume as its files require now. */
  async set(path: string, bytes: number): Promise<DiskUse> {
    return await this.#limit(path, bytes, 0)
  }

  async #limit(path: string, bytes: number, leastRoom: number): Promise<DiskUse> {
    const began = performance.now()
    const disk = await limitSubvolume(this.#tools, path, bytes, leastRoom)
    const setAt = performance.now()
    this.#watched.set(path, { disk, counts: countsOf(disk), setAt, tookMs: setAt - began })
    this.#timer ??= setInterval(() => this.#look(), lookEveryMs).unref()
    return disk
  }

  /** Sets the limit again, unless that was just done. If it fails, the limit stays as it is. */
  async refresh(path: string, disk: DiskLimit | undefined): Promise<void> {
    if (disk === undefined || this.#busy.has(path) || !this.#isRested(path)) return
    this.#busy.add(path)
    try {
      await this.set(path, disk.bytes)
    } catch (err) {
      this.#watched.delete(path)
      this.#log.debug({ err, path }, 'a disk limit was not set again')
    } finally {
      this.#busy.delete(path)
    }
  }

  #look(): void {
    for (const [path, { disk, counts }] of this.#watched) {
      const now = countsOf(disk)
      if (now === null) this.#watched.delete(path)
      else if (isDue(disk, counts, now)) void this.refresh(path, disk)
    }
  }

  #isRested(path: string): boolean {
    const watched = this.#watched.get(path)
    return !watched || performance.now() - watched.setAt > watched.tookMs * restFactor
  }

  [Symbol.dispose](): void {
    if (this.#timer) clearInterval(this.#timer)
  }
}

/** What the kernel counts for a subvolume. */
interface Counts {
  readonly bytes: number
  readonly limit: number
  /** grows with every change, long before it is counted */
  readonly reserved: string
}

/** Whether files may have been deleted whose space somebody wants, or that a deleted snapshot still held. */
function isDue({ bytes }: DiskLimit, before: Counts | null, now: Counts): boolean {
  if (before === null || now.bytes < before.bytes) return true
  const isLow = now.limit - now.bytes < Math.max(leastLowBytes, bytes / 10)
  return isLow && (now.bytes !== before.bytes || now.reserved !== before.reserved)
}

/** Null if the subvolume is gone. */
function countsOf({ counter }: DiskLimit): Counts | null {
  const read = (name: string) => readFileSync(join(counter, name), 'utf8').trim()
  try {
    return {
      bytes: Number(read('referenced')),
      limit: Number(read('max_referenced')),
      reserved: read('rsv_meta_pertrans'),
    }
  } catch {
    // It ended, or this container does not show it; then the next command sets the limit again.
    return null
  }
}
