import { ConnectionError, type Happened } from '../../model/errors.ts'
import { type Address, formatAddress } from '../address.ts'
import { type Retrier, retrier } from './retrier.ts'

/** For a daemon that is reached over a socket. */
export function socketRetrier(address: Address): Retrier {
  return retrier({
    isUnreached,
    isCut,
    asError: (error, happened) => unreachable(address, error, happened),
  })
}

/** The request never left this machine. */
function isUnreached(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code
  return code === 'ECONNREFUSED' || code === 'ENOENT' || code === 'EACCES' || code === 'ENOTFOUND'
}

/** "socket hang up" has the same code. */
function isCut(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code
  return code === 'ECONNRESET' || code === 'EPIPE'
}

function unreachable(address: Address, cause: unknown, happened: Happened): ConnectionError {
  const why = cause instanceof Error ? cause.message : String(cause)
  const code = (cause as NodeJS.ErrnoException).code
  const remedy =
    code === 'EACCES'
      ? 'run as root, or as a member of the group forkpoint'
      : happened === 'no'
        ? 'check that the daemon runs (`forkpoint serve`) and that the address is right'
        : 'the operation may have happened: look before you repeat it'
  return new ConnectionError(`cannot reach the daemon at ${formatAddress(address)}: ${why}`, {
    happened,
    remedy,
    cause,
  })
}
