import { statfs } from 'node:fs/promises'
import { BackendError, ForkpointError, ResourceError } from '../../model/errors.ts'

/** Does `work` on the host's file system, and puts its failure in words for the user. */
export async function explained<T>(doing: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ForkpointError || !(error instanceof Error)) throw error
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOSPC' || code === 'EDQUOT') {
      throw new ResourceError(`${doing}: no space is left`, {
        remedy: 'remove environments or files inside them, or free space on the disk of the store',
        cause: error,
      })
    }
    throw new BackendError(`${doing} failed: ${error.message}`, { cause: error })
  }
}

/** Less than this is taken for full: what failed has given back some of it by now. */
const leastFreeBytes = 1024 ** 2

/** A failure on a file system that has run full is for want of space, whatever the tool called it. */
export async function tellingFull<T>(
  dir: string,
  doing: string,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    const { bavail, bsize } = await statfs(dir)
    if (error instanceof ResourceError || bavail * bsize >= leastFreeBytes) throw error
    const words = error instanceof Error ? error.message : String(error)
    throw new ResourceError(`${doing}: no space is left`, {
      remedy: 'remove snapshots, environments or files inside them, or set a larger volume.size',
      detail: { failed: words },
      cause: error,
    })
  }
}
