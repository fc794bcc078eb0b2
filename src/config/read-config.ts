import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { InvalidInputError } from '../model/errors.ts'
import { quote } from '../model/quote.ts'
import { trustedUsers, whoMayChange } from '../model/trust.ts'
import type { Variables } from './files.ts'

/** Every setting with a long mask takes some kilobytes. */
const largestFile = 1024 * 1024

/**
 * The text of a configuration file. It names programs that root will run, so that others must not be
 * able to write it. A device or a pipe, which may have no end or never begin, is not read.
 */
export function readConfig(path: string, env: Variables): string {
  // O_NONBLOCK: a pipe that nobody writes to would be waited for.
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY
  const fd = openSync(path, flags)
  try {
    const stats = fstatSync(fd)
    if (!stats.isFile()) throw unusable(path, 'is not a regular file', 'write it to a file')
    const who = whoMayChange(stats, trustedUsers(process.geteuid?.() ?? 0, env.SUDO_UID))
    if (who !== null) {
      throw unusable(path, who, 'make it yours alone (`chown`, `chmod go-w`), or use another file')
    }
    return readText(fd, path)
  } finally {
    closeSync(fd)
  }
}

function readText(fd: number, path: string): string {
  const bytes = Buffer.alloc(largestFile + 1)
  let length = 0
  for (let read = -1; read !== 0 && length < bytes.length; length += read) {
    read = readSync(fd, bytes, length, bytes.length - length, null)
  }
  if (length <= largestFile) return bytes.toString('utf8', 0, length)
  throw unusable(path, 'has more than 1 MiB', 'keep only settings in it')
}

function unusable(path: string, why: string, remedy: string): InvalidInputError {
  const message = `cannot read the configuration file ${quote(path)}: it ${why}`
  return new InvalidInputError(message, { remedy, detail: { path } })
}
