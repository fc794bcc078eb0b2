import { BackendError } from '../model/errors.ts'

/**
 * Whether only the connection to the agent broke, as it does when a snapshot is taken: what runs
 * inside goes on, and can be attached to again.
 */
export function isConnectionLost(error: unknown): boolean {
  return error instanceof BackendError && error.constructor.name === 'ConnectionLostError'
}
