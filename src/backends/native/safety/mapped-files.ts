import { readFileSync } from 'node:fs'
import { basename } from 'node:path'

/** A file that a process has mapped to run code of. */
export interface MappedFile {
  /** the kernel's own link to it, which follows no path of the sandbox and outlives deletion */
  readonly link: string
  /** as the process knows it */
  readonly path: string
  readonly name: string
  /** the same for the same file, in every process on it */
  readonly identity: string
}

// The kernel pads addresses here, and not in the names of the links; of all characters in a path
// it escapes only the line break.
const line = /(?<![^\n])0*(\w+)-0*(\w+) ..x. \w+ (\w+:\w+) (\d+) *([^\n]*)/g
const deleted = / \(deleted\)$/

/** The files whose code the process may run; none of a process that has ended. */
export function mappedFiles(pid: number): MappedFile[] {
  const files = new Map<string, MappedFile>()
  for (const [, from, to, device, inode, path] of readMaps(pid).matchAll(line)) {
    if (path === undefined || (inode === '0' && !path.startsWith('/'))) continue
    const identity = `${device} ${inode} ${path}`
    if (files.has(identity)) continue
    const name = basename(path.replace(deleted, ''))
    files.set(identity, { link: `/proc/${pid}/map_files/${from}-${to}`, path, name, identity })
  }
  return [...files.values()]
}

function readMaps(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/maps`, 'latin1')
  } catch {
    return ''
  }
}
