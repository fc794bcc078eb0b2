import { join } from 'node:path'
import { readdir, rm } from '../linux/files/quick-fs.ts'
import type { Tools } from '../linux/tools.ts'
import { BackendError } from '../model/errors.ts'
import { type Dump, dump } from './criu.ts'
import type { CriuWorkers } from './criu-workers.ts'
import { type DumpImages, openImages } from './images/dump-images.ts'
import { watchesByHandle } from './images/watches.ts'

/** A dump, and where the names of files come from: layers as `cell` takes them, topmost first. */
export interface NamedDump extends Dump {
  readonly layers: readonly string[]
}

interface Dumped {
  readonly images: DumpImages
  /** whether a watched file no longer has a name */
  readonly watchesByHandle: boolean
}

/** While memory is scarce, the kernel may forget a name again before the next dump. */
const mostTries = 4

/**
 * The kernel may have forgotten the name of a watched file. Then CRIU cannot dump the watch, or it knows
 * only a handle of the file, which is stale in the next mount. We search for such names only when we
 * have to, because the search takes longer than a dump.
 */
export async function dumpDespiteLostNames(
  tools: Tools,
  workers: CriuWorkers,
  request: NamedDump,
): Promise<Dumped> {
  for (let tries = 1; tries < mostTries; tries += 1) {
    const dumped = await tryToDump(workers, request)
    if (dumped?.watchesByHandle === false) return dumped
    const hasFoundSome = await findNames(tools, request)
    if (dumped !== null && !hasFoundSome) return dumped
    for (const name of await readdir(request.images)) await rm(join(request.images, name))
  }
  await dump(workers, request)
  return dumpedTo(request.images)
}

async function findNames(tools: Tools, { cgroup, pid, layers }: NamedDump): Promise<boolean> {
  const words = ['rewatch', cgroup, String(pid), ...layers]
  const said = await tools.runCell('finding the names of watched files', words)
  const [lost = 0, left = 0] = said.split(' ').map(Number)
  return left < lost
}

/** Null if a watch does not even have a handle. */
async function tryToDump(workers: CriuWorkers, request: Dump): Promise<Dumped | null> {
  try {
    await dump(workers, request)
  } catch (error) {
    if (isMissingHandle(error)) return null
    throw error
  }
  return dumpedTo(request.images)
}

function dumpedTo(directory: string): Dumped {
  const images = openImages(directory)
  return { images, watchesByHandle: watchesByHandle(images.files) }
}

/** A line of /proc/PID/fdinfo that has no handle in it. */
function isMissingHandle(error: unknown): boolean {
  const words = error instanceof BackendError ? error.lastWords : undefined
  return words !== undefined && /error parsing \[inotify wd:/.test(words)
}
