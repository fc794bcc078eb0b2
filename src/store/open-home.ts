import { lstatSync, mkdirSync, readlinkSync, type Stats, statfsSync, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import { PrerequisiteError } from '../model/errors.ts'
import { quote } from '../model/quote.ts'
import { type StickyRule, trustedUsers, whoMayChange } from '../model/trust.ts'
import { makeClosed, openClosedDirectory, unmappedId } from '../system/closed-directory.ts'
import { ifThere } from '../system/if-there.ts'

/** As the kernel counts them. */
const mostLinks = 40

/** File systems that show the kernel: proc, sysfs, cgroup, cgroup2, devpts, debugfs, tracefs. */
const kernelTypes = new Set([
  ...[0x9fa0, 0x62656572, 0x27e0eb, 0x63677270, 0x1cd1, 0x64626720, 0x74726163],
])

/**
 * Makes the directory of a store where there is none, and returns its one true path: cgroups, mounts
 * and interfaces are named for it, and another name of it would not find them. Whoever can write to
 * it, or put another in its place, could have root remove, mount and run what they like.
 */
export function openHome(given: string): string {
  const home = resolveHome(given)
  requireTrust(given, home, lstatSync(home), 'nobody else')
  if (kernelTypes.has(statfsSync(home).type)) throw unusable(given, `${home} belongs to the kernel`)
  openClosedDirectory(home, isOfHome)
  return home
}

/** What homes hold that were made by versions that did not close them. */
function isOfHome(name: string): boolean {
  return /^(db\.sqlite.*|volume\.ext4.*|data|runtime|bench-.*|lost\+found)$/.test(name)
}

function resolveHome(given: string): string {
  let rest = given.split(sep)
  let at = '/'
  let links = 0
  for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
    if (name === '' || name === '.') continue
    if (name === '..') {
      at = join(at, '..')
      continue
    }
    const next = join(at, name)
    const stats = entryAt(given, next, rest.some(Boolean) ? makeDirectory : makeClosed)
    if (stats.isSymbolicLink()) {
      links += 1
      if (links > mostLinks) throw unusable(given, 'its links lead in a circle')
      requireTarget(given, next)
      const target = readlinkSync(next)
      if (target.startsWith(sep)) at = '/'
      rest = [...target.split(sep), ...rest]
    } else if (stats.isDirectory()) {
      at = next
    } else {
      throw unusable(given, `${next} is not a directory`)
    }
    requireTrust(given, next, stats, 'sticky is enough')
  }
  return at
}

/** Not by Node's recursive way: that tries for ever where nothing can be made, as in /proc. */
function makeDirectory(path: string): void {
  mkdirSync(path, { mode: 0o700 })
}

/** What is there, or the directory that is made. */
function entryAt(given: string, path: string, make: (path: string) => void): Stats {
  try {
    const there = ifThere(() => lstatSync(path))
    if (there !== null) return there
    make(path)
  } catch (error) {
    // Another process has made it at the same time.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') {
      throw unusable(given, (error as Error).message, error)
    }
  }
  return lstatSync(path)
}

/** A link that leads nowhere is a mistake: no store is made at its end. */
function requireTarget(given: string, link: string): void {
  try {
    statSync(link)
  } catch (error) {
    throw unusable(given, `${link} is a link that leads nowhere`, error)
  }
}

function requireTrust(given: string, path: string, stats: Stats, rule: StickyRule): void {
  const { uid, gid } = stats
  // The mode of a link says nothing.
  const mode = stats.isSymbolicLink() ? 0 : stats.mode
  const people = trustedUsers(process.geteuid?.() ?? 0, process.env.SUDO_UID)
  const trusted = new Set([...people, unmappedId])
  const who = whoMayChange({ uid, gid, mode }, trusted, rule)
  if (who === null) return
  throw new PrerequisiteError(`cannot use ${quote(given)} as home: ${path} ${who}`, {
    remedy: "make it root's alone (`chown root:root`, `chmod go-w`), or choose another home",
    detail: { home: given, path },
  })
}

function unusable(given: string, why: string, cause?: unknown): PrerequisiteError {
  return new PrerequisiteError(`cannot use ${quote(given)} as home: ${why}`, {
    remedy: 'set FORKPOINT_HOME or --home to a directory that only root can write to',
    detail: { home: given },
    cause,
  })
}
