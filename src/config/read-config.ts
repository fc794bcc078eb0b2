import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { InvalidInputError } from '../model/errors.ts'
import { trustedUsers, whoMayChange } from '../model/files/trust.ts'
import { quote } from '../model/text/quote.ts'
import type { Variables } from './files.ts'

/** All settings together, with a long mask, take a few kilobytes. */
const maxBytes = 1024 * 1024

/**
 * The text of a configuration file. It names programs that root will run, so others must not be able to
 * write to it. Devices and pipes are refused, because reading them may never end.
 */
export function readConfig(path: string, env: Variables): string {
  // O_NONBLOCK: opening a pipe would wait for a writer.
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY
  const fd = openSync(path, flags)
  try {
    const stats = fstatSync(fd)
    if (!stats.isFile())
      throw unusable(path, 'is not a regular file', 'put the settings into a regular file')
    const who = whoMayChange(stats, trustedUsers(process.geteuid?.() ?? 0, env.SUDO_UID))
    if (who !== null) {
      throw unusable(
        path,
        who,
        'let nobody else write to it (`chown`, `chmod go-w`), or use another file',
      )
    }
    return readText(fd, path)
  } finally {
    closeSync(fd)
  }
}

function readText(fd: number, path: string): string {
  const bytes = Buffer.alloc(maxBytes + 1)
  let length = 0
  for (let read = -1; read !== 0 && length < bytes.length; length += read) {
    read = readSync(fd, bytes, length, bytes.length - length, null)
  }
  if (length <= maxBytes) return bytes.toString('utf8', 0, length)
  throw unusable(path, 'is larger than 1 MiB', 'keep only settings in it')
}

function unusable(path: string, why: string, remedy: string): InvalidInputError {
  const message = `cannot read the configuration file ${quote(path)}: it ${why}`
  return new InvalidInputError(message, { remedy, detail: { path } })
}
