import { BackendError, ConflictError, ResourceError } from '../model/errors.ts'

// https://www.sqlite.org/rescode.html; extended codes carry the primary one in the low byte.
const primary = { busy: 5, ioError: 10, corrupt: 11, full: 13, notADatabase: 26 }
const extended = { foreignKey: 787, primaryKey: 1555, unique: 2067 }

export function isBusy(error: unknown): boolean {
  return primaryCode(error) === primary.busy
}

export function isUniqueViolation(error: unknown): boolean {
  return errorCode(error) === extended.unique || errorCode(error) === extended.primaryKey
}

export function isForeignKeyViolation(error: unknown): boolean {
  return errorCode(error) === extended.foreignKey
}

/** Errors that the user can act on become typed; constraint violations are left to the caller. */
export function translated(error: unknown, path: string): unknown {
  const message = error instanceof Error ? error.message : String(error)
  switch (primaryCode(error)) {
    case primary.busy:
      return new ConflictError(`the store ${path} is locked by another process`, {
        remedy: 'try again; if it stays locked, look for a stopped forkpoint process',
        cause: error,
      })
    case primary.full:
      return new ResourceError(`no space left for the store ${path}`, {
        remedy: 'free some disk space',
        cause: error,
      })
    case primary.ioError:
    case primary.corrupt:
    case primary.notADatabase:
      return new BackendError(`the store ${path} cannot be read or written: ${message}`, {
        remedy: 'check the disk, or use another home with FORKPOINT_HOME',
        cause: error,
      })
    default:
      return error
  }
}

function primaryCode(error: unknown): number {
  return errorCode(error) & 0xff
}

function errorCode(error: unknown): number {
  if (!(error instanceof Error) || !('errcode' in error)) return 0
  return typeof error.errcode === 'number' ? error.errcode : 0
}
