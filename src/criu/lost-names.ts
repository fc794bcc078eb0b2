import { join } from 'node:path'
import { readdir, readFile, rm } from '../linux/quick-fs.ts'
import { runCell } from '../linux/run-cell.ts'
import { BackendError } from '../model/errors.ts'
import { type Dump, dump } from './criu.ts'
import type { CriuWorkers } from './criu-workers.ts'
import { watchesByHandle } from './images/watches.ts'

/** Says whether a file is watched that has no name any more. */
interface Dumped {
  readonly watchesByHandle: boolean
}

/**
 * The kernel may have forgotten the name of a watched file. CRIU then cannot dump the watch, or knows
 * only a handle of the file, which is stale in the next mount. Such names are found again, but only
 * then: searching takes longer than a dump.
 */
export async function dumpDespiteLostNames(workers: CriuWorkers, request: Dump): Promise<Dumped> {
  const byHandle = await tryToDump(workers, request)
  if (byHandle === false) return { watchesByHandle: false }
  const said = await runCell('finding the names of watched files', ['rewatch', request.cgroup])
  const [lost = 0, left = 0] = said.split(' ').map(Number)
  if (byHandle === true && left === lost) return { watchesByHandle: true }
  for (const name of await readdir(request.images)) await rm(join(request.images, name))
  await dump(workers, request)
  return { watchesByHandle: await readsWatchesByHandle(request.images) }
}

/** Whether there are watches by handle alone; null if there is one without even that. */
async function tryToDump(workers: CriuWorkers, request: Dump): Promise<boolean | null> {
  try {
    await dump(workers, request)
  } catch (error) {
    if (isMissingHandle(error)) return null
    throw error
  }
  return await readsWatchesByHandle(request.images)
}

async function readsWatchesByHandle(images: string): Promise<boolean> {
  return watchesByHandle(await readFile(join(images, 'files.img')))
}

/** A line of /proc/PID/fdinfo that has no handle in it. */
function isMissingHandle(error: unknown): boolean {
  const words = error instanceof BackendError ? error.lastWords : undefined
  return words !== undefined && /error parsing \[inotify wd:/.test(words)
}
