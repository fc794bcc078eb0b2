import { BackendError } from '../../model/errors.ts'

/** What is thrown for an image that is not as CRIU 4.1 or 4.2 writes it. */
export function unknownFormat(image: string, met: string): BackendError {
  return new BackendError(`cannot read CRIU's ${image}: ${met}`, {
    remedy: 'use CRIU 4.1 or 4.2; `forkpoint doctor` tells which one runs',
    detail: { image, met },
  })
}
