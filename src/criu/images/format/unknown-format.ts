import { BackendError } from '../../../model/errors.ts'

/** The error for an image that is not what CRIU 4.1 or 4.2 writes. */
export function unknownFormat(image: string, problem: string): BackendError {
  return new BackendError(`cannot read CRIU's ${image}: ${problem}`, {
    remedy: 'use CRIU 4.1 or 4.2; `forkpoint doctor` shows which one runs',
    permanent: true,
    detail: { image, problem },
  })
}
