import { ConflictError, ForkpointError, ResourceError } from '../../model/errors.ts'

const full = new Set(['ENOSPC', 'EDQUOT', 'EFBIG'])

/** Turns a failed system call on the host's files into an error with a remedy. */
export function hostFailure(what: string, error: unknown): unknown {
  const cause = error instanceof Error ? error : new Error(String(error))
  const { code } = cause as NodeJS.ErrnoException
  if (isFull(cause)) {
    return new ResourceError(`${what}: no space left`, { remedy: 'free some disk space', cause })
  }
  if (error instanceof ForkpointError || code === undefined) return error
  return new ConflictError(`${what}: ${cause.message}`, {
    remedy: 'check that the directory exists and can be written to',
    cause,
  })
}

/** The helper reports it in words, without a code. */
function isFull(error: Error): boolean {
  const { code } = error as NodeJS.ErrnoException
  return (code !== undefined && full.has(code)) || /No space left on device/.test(error.message)
}
