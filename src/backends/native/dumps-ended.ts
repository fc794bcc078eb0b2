import { readdir, readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { BackendError } from '../../model/errors.ts'

const longestMs = 120_000
const lookEveryMs = 10

/**
 * Waits for dumps into this directory that a killed process began: until CRIU has taken its code out
 * of the environment's processes, they must not run. It is known by its arguments, which are ours.
 */
export async function dumpsEnded(images: string): Promise<void> {
  for (let waitedMs = 0; waitedMs < longestMs; waitedMs += lookEveryMs) {
    if (!(await isArgument(images))) return
    await sleep(lookEveryMs)
  }
  throw new BackendError(`a dump into ${images} does not end`, {
    remedy: 'see what keeps the process `criu dump` busy, then try again',
  })
}

async function isArgument(text: string): Promise<boolean> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const lines = pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''))
  return (await Promise.all(lines)).some((line) => line.split('\0').includes(text))
}
