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
