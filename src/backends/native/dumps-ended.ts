import { readFile, stat } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { BackendError } from '../../model/errors.ts'

const longestMs = 120_000
const lookEveryMs = 10

/**
 * Waits for dumps into this directory that a killed process began: until CRIU has taken its code out
 * of the environment's processes, they must not run. Its worker keeps the directory locked.
 */
export async function dumpsEnded(images: string): Promise<void> {
  for (let waitedMs = 0; waitedMs < longestMs; waitedMs += lookEveryMs) {
    if (!(await isLocked(images))) return
    await sleep(lookEveryMs)
  }
  throw new BackendError(`a dump into ${images} does not end`, {
    remedy: 'see what keeps the process `criu dump` busy, then try again',
  })
}

/** A lock is listed by the numbers of its file's device, in hex, and of its inode. */
async function isLocked(dir: string): Promise<boolean> {
  const { dev, ino } = await stat(dir, { bigint: true })
  const major = ((dev >> 8n) & 0xfffn) | ((dev >> 32n) & ~0xfffn)
  const minor = (dev & 0xffn) | ((dev >> 12n) & ~0xffn)
  const hex = (number: bigint) => number.toString(16).padStart(2, '0')
  const file = `${hex(major)}:${hex(minor)}:${ino}`
  const locks = await readFile('/proc/locks', 'utf8')
  return locks.split('\n').some((line) => line.split(/\s+/).includes(file))
}
