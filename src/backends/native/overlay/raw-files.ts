import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isClosed } from '../../../linux/closed-directory.ts'
import { ifThere } from '../../../linux/if-there.ts'

/** Directories that people put a home in, beside their own. */
const likely = ['/', '/var/lib', '/var/tmp', '/tmp', '/srv', '/opt', '/mnt', '/root', '/home']

/**
 * Files whose bytes are a disk, or the memory of the machine, and other stores of Forkpoint, as far as
 * the kernel tells of them or they lie where they are likely. A store of this version is closed by its
 * owner (see system/closed-directory.ts), and an older one gets that as soon as it is used.
 */
export function rawFiles(): string[] {
  const files = [...backingFiles(), ...swapFiles()].map((path) => homeOf(path) ?? path)
  const people = namesIn('/home').map((name) => join('/home', name))
  return [...new Set([...files, ...homesIn([...likely, ...people])])]
    .filter((path) => !isShut(path))
    .sort()
}

/** What the loop devices of the machine show. */
export function backingFiles(): string[] {
  const devices = ifThere(() => readdirSync('/sys/block')) ?? []
  return devices
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

/** The kernel writes blanks and the like in octal. */
function byte(octal: string): string {
  return String.fromCharCode(Number.parseInt(octal, 8))
}

function homesIn(dirs: readonly string[]): string[] {
  return dirs.flatMap((dir) =>
    namesIn(dir)
      .map((name) => join(dir, name, 'volume.ext4'))
      .flatMap((volume) => homeOf(volume) ?? []),
  )
}

/** The home that this volume belongs to, if it is one's. */
function homeOf(volume: string): string | null {
  if (!volume.endsWith('/volume.ext4')) return null
  const home = dirname(volume)
  return isThere(volume) && isThere(join(home, 'db.sqlite')) ? home : null
}

/** Closed to every environment already: it need not be hidden one by one. */
function isShut(path: string): boolean {
  for (let at = path; at !== '/'; at = dirname(at)) {
    const found = statSync(at, { throwIfNoEntry: false })
    if (found && isClosed(found)) return true
  }
  return false
}

function isThere(path: string): boolean {
  return ifThere(() => statSync(path)) !== null
}

function namesIn(dir: string): string[] {
  return ifThere(() => readdirSync(dir)) ?? []
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // A device that goes away at this moment shows nothing any more.
    return ''
  }
}
