/** The errno of a file operation that failed inside, such as ENOENT; null if it was something else. */
export function errnoOf(error: unknown): string | null {
  if (!(error instanceof Error) || !('detail' in error)) return null
  const { detail } = error
  if (typeof detail !== 'object' || detail === null || !('errno' in detail)) return null
  return typeof detail.errno === 'string' ? detail.errno : null
}
