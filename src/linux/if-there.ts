/** What `read` says of something that need not be there: null if it is not. Any other failure is one. */
export function ifThere<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return null
    throw error
  }
}
