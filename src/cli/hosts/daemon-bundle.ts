import { errorFromJson, ForkpointError } from '../../model/errors.ts'

/** The daemon is a bundle with classes of its own: its errors become ours, so that they are reported alike. */
export async function withOwnErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ForkpointError || !isOfTheirs(error)) throw error
    throw errorFromJson(error)
  }
}

interface Theirs extends Error {
  readonly code: string
  readonly remedy: string
}

function isOfTheirs(error: unknown): error is Theirs {
  if (!(error instanceof Error) || !('code' in error) || !('remedy' in error)) return false
  return typeof error.code === 'string' && typeof error.remedy === 'string'
}
