import { statfsSync } from 'node:fs'
import { ifExists } from '../../linux/files/if-exists.ts'
import { BackendError, ForkpointError, ResourceError } from '../../model/errors.ts'
import type { Places } from './places.ts'

/** Does `work` on the host's file system, and explains a failure to the user. */
export async function explained<T>(doing: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ForkpointError || !(error instanceof Error)) throw error
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOSPC' || code === 'EDQUOT') {
      throw new ResourceError(`${doing}: no space left`, {
        remedy: 'remove environments or files inside them, or free space on the disk of the store',
        cause: error,
      })
    }
    throw new BackendError(`${doing} failed: ${error.message}`, {
      remedy: 'run `forkpoint doctor` to see what this machine lacks, then try again',
      cause: error,
    })
  }
}

/** A disk with less free space counts as full: whatever failed has already freed some. */
const minFreeBytes = 1024 ** 2

/** Blames a failure on a lack of space if a file system is full, whatever the tool reported. */
export async function explainedIfFull<T>(
  places: Places,
  doing: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const full = fullIn(places)
    const message = error instanceof Error ? error.message : String(error)
    if (error instanceof ResourceError || (full === null && !saysFull.test(message))) throw error
    throw new ResourceError(`${doing}: no space left`, {
      remedy: remedies[full ?? 'data'],
      detail: { failed: message, ...(full !== null && { full: places[full] }) },
      cause: error,
    })
  }
}

/** What programs that we run print for ENOSPC. */
const saysFull = /No space left on device/

const ofVolume = 'remove snapshots, environments or files inside them, or set a larger volume.size'
const remedies = {
  home: 'free space on the disk of the home, or remove snapshots or environments',
  data: ofVolume,
  files: ofVolume,
}

/** The file system below the others comes first: if it is full, so are they. */
function fullIn(places: Places): keyof typeof remedies | null {
  const full = (['home', 'data', 'files'] as const).filter((name) => {
    const found = ifExists(() => statfsSync(places[name]))
    return found !== null && found.bavail * found.bsize < minFreeBytes
  })
  return full[0] ?? null
}
