import { BackendError } from '../../../model/errors.ts'

/** For an archive that Forkpoint would not make. Nothing of it is kept. */
export function malformed(why: string, cause?: unknown): BackendError {
  return new BackendError(`the archive of the files is malformed: ${why}`, {
    remedy: 'try again; if it happens again, check the engine and the connection to it',
    cause,
  })
}
