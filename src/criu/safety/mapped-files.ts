import { closeSync, openSync, readSync } from 'node:fs'
import { basename } from 'node:path'

/** A file that a process has mapped to run code from it. */
export interface MappedFile {
  /** the kernel's own link to it, which follows no path from inside and works after deletion */
  readonly link: string
  /** as the process knows it */
  readonly path: string
  readonly name: string
  /** device of its file system, as /proc/PID/maps writes it */
  readonly device: string
  /** the same in every process that maps the file */
  readonly identity: string
}

/** The most mappings seen are a JVM's 6,000, which is far less; but 65,530 are possible, with long paths. */
const mostMapsBytes = 4 * 1024 * 1024
/** The most seen are Chromium's 400. */
const mostFiles = 2_000

// The kernel pads addresses here, but not in the names of the links. In a path it escapes only the
// line break.
const line = /(?<![^\n])0*(\w+)-0*(\w+) ..x. \w+ (\w+:\w+) (\d+) *([^\n]*)/g
const deleted = / \(deleted\)$/

/** The files whose code the process may run. Empty if the process has ended; null if there are too many. */
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
    // The process has ended.
    return ''
  }
  try {
    return readBounded(fd)
  } catch {
    // The process ended while we read this.
    return ''
  } finally {
    closeSync(fd)
  }
}

/** The kernel returns about a page at a time. */
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
