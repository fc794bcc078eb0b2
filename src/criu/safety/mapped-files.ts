import { closeSync, openSync, readSync } from 'node:fs'
import { basename } from 'node:path'

/** A file that a process has mapped to run code of. */
export interface MappedFile {
  /** the kernel's own link to it, which follows no path of the sandbox and outlives deletion */
  readonly link: string
  /** as the process knows it */
  readonly path: string
  readonly name: string
  /** of its file system, as /proc/PID/maps writes it */
  readonly device: string
  /** the same for the same file, in every process on it */
  readonly identity: string
}

/** Far above what was seen, 6,000 mappings of a JVM; a process may have 65,530, each with a long path. */
const mostMapsBytes = 4 * 1024 * 1024
/** The most seen are 400, of Chromium's. */
const mostFiles = 2_000

// The kernel pads addresses here, and not in the names of the links; of all characters in a path
// it escapes only the line break.
const line = /(?<![^\n])0*(\w+)-0*(\w+) ..x. \w+ (\w+:\w+) (\d+) *([^\n]*)/g
const deleted = / \(deleted\)$/

/** The files whose code the process may run; none of a process that has ended, null if too many. */
export function mappedFiles(pid: number): MappedFile[] | null {
  const files = new Map<string, MappedFile>()
  const maps = readMaps(pid)
  if (maps === null) return null
  for (const [, from, to, device = '', inode, path] of maps.matchAll(line)) {
    if (path === undefined || (inode === '0' && !path.startsWith('/'))) continue
    const identity = `${device} ${inode} ${path}`
    if (files.has(identity)) continue
    if (files.size === mostFiles) return null
    const name = basename(path.replace(deleted, ''))
    const link = `/proc/${pid}/map_files/${from}-${to}`
    files.set(identity, { link, path, name, device, identity })
  }
  return [...files.values()]
}

function readMaps(pid: number): string | null {
  let fd: number
  try {
    fd = openSync(`/proc/${pid}/maps`, 'r')
  } catch {
    return ''
  }
  try {
    return readBounded(fd)
  } catch {
    // It ended while it was read.
    return ''
  } finally {
    closeSync(fd)
  }
}

/** The kernel gives a page's worth at a time. */
function readBounded(fd: number): string | null {
  const parts: string[] = []
  const part = Buffer.allocUnsafe(64 * 1024)
  for (let total = 0; total <= mostMapsBytes; ) {
    const length = readSync(fd, part)
    if (length === 0) return parts.join('')
    parts.push(part.toString('latin1', 0, length))
    total += length
  }
  return null
}
