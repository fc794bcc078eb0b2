import { readFileSync, type Stats, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { isClosed } from '../files/closed-directory.ts'
import { ifExists } from '../files/if-exists.ts'
import { namesIn } from '../files/names-in.ts'

/** The names of the sparse files in a home. */
const volumeNames = ['volume.ext4', 'volume.btrfs']

/** Directories where people may put a home of Forkpoint, in addition to their own. */
const likely = ['/', '/var/lib', '/var/tmp', '/tmp', '/srv', '/opt', '/mnt', '/root', '/home']

/**
 * Files that hold a disk or the memory of the machine, and other homes of Forkpoint, if the kernel lists
 * them or they are in a likely place. Stores of this version are closed to environments (see
 * linux/files/closed-directory.ts), and older ones are closed as soon as they are used.
 */
export function rawFiles(): string[] {
  const files = [...backingFiles(), ...swapFiles()].map((path) => homeOf(path) ?? path)
  const people = listed('/home').map((name) => join('/home', name))
  return [...new Set([...files, ...homesIn([...likely, ...people])])]
    .filter((path) => !isShut(path))
    .sort()
}

/** The files behind the loop devices of the machine. */
export function backingFiles(): string[] {
  return namesIn('/sys/block')
    .filter((name) => name.startsWith('loop'))
    .map((name) => textOf(`/sys/block/${name}/loop/backing_file`).trim())
    .filter((path) => path.startsWith('/') && !path.endsWith(' (deleted)'))
}

function swapFiles(): string[] {
  const lines = textOf('/proc/swaps').split('\n').slice(1)
  return lines
    .map((line) => line.split(/\s+/))
    .filter(([, kind]) => kind === 'file')
    .map(([path = '']) => path.replace(/\\(\d{3})/g, (_, code) => byte(code)))
}

/** The kernel writes spaces and similar characters in octal. */
function byte(octal: string): string {
  return String.fromCharCode(Number.parseInt(octal, 8))
}

function homesIn(dirs: readonly string[]): string[] {
  return dirs.flatMap((dir) =>
    listed(dir)
      .flatMap((name) => volumeNames.map((volume) => join(dir, name, volume)))
      .flatMap((volume) => homeOf(volume) ?? []),
  )
}

/** The home that this volume belongs to; null if the file is something else. */
function homeOf(volume: string): string | null {
  if (!volumeNames.includes(basename(volume))) return null
  const home = dirname(volume)
  return exists(volume) && exists(join(home, 'db.sqlite')) ? home : null
}

/** Whether it is closed to every environment already, so that the mask need not hide it. */
function isShut(path: string): boolean {
  for (let at = path; at !== '/'; at = dirname(at)) {
    const found = seen(at)
    if (found && isClosed(found)) return true
  }
  return false
}

function exists(path: string): boolean {
  return seen(path) !== null
}

function listed(directory: string): string[] {
  return ifAllowed(() => namesIn(directory)) ?? []
}

function seen(path: string): Stats | null {
  return ifAllowed(() => ifExists(() => statSync(path)))
}

/** What an ordinary user cannot reach, environments of that user cannot reach either. */
function ifAllowed<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EACCES') return null
    throw error
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // The device has just been removed.
    return ''
  }
}
