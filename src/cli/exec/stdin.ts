import { fstatSync } from 'node:fs'

/**
 * Whether our stdin was meant for the command: a pipe, a file or a socket is; a terminal or
 * /dev/null is what a program has when nobody meant anything by it.
 */
export function stdinIsGiven(fd = 0): boolean {
  try {
    const stats = fstatSync(fd)
    return stats.isFIFO() || stats.isFile() || stats.isSocket()
  } catch {
    // Closed, as daemons have it.
    return false
  }
}
