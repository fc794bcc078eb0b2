import { fstatSync } from 'node:fs'

/**
 * Whether our stdin is meant for the command. A pipe, a file or a socket is; a terminal or /dev/null
 * is only the default.
 */
export function stdinIsGiven(fd = 0): boolean {
  try {
    const stats = fstatSync(fd)
    return stats.isFIFO() || stats.isFile() || stats.isSocket()
  } catch {
    // Closed, as in daemons.
    return false
  }
}
