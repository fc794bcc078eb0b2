import { lstatSync, readlinkSync, type Stats, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import { ForkpointError } from '../model/errors.ts'
import { type StickyRule, trustedUsers, whoMayChange } from '../model/trust.ts'
import { unmappedId } from '../model/unmapped-id.ts'

/** As the kernel counts them. */
const mostLinks = 40

export interface TrustedWalk {
  /** what is at a path, made if it has to be; null ends the walk there */
  entryAt(path: string): Stats | null
  /** says why a path cannot be used */
  refuse(why: string, cause?: unknown): Error
}

/**
 * Where a path leads, step by step and link by link. Refused where anybody but root, and who runs
 * this, could put something else in the place of a part of it.
 */
export function resolveTrusted(given: string, walk: TrustedWalk): string {
  let rest = given.split(sep)
  let at = '/'
  let links = 0
  for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
    if (name === '' || name === '.') continue
    const next = join(at, name)
    if (name === '..') {
      at = next
      continue
    }
    const stats = lookAt(walk, next)
    if (stats === null) return next
    requireTrust(walk, next, stats, 'sticky is enough')
    if (stats.isSymbolicLink()) {
      links += 1
      if (links > mostLinks) throw walk.refuse('its links lead in a circle')
      const target = targetOf(walk, next)
      if (target.startsWith(sep)) at = '/'
      rest = [...target.split(sep), ...rest]
    } else {
      if (!stats.isDirectory() && rest.length > 0) throw walk.refuse(`${next} is not a directory`)
      at = next
    }
  }
  const last = lookAt(walk, at)
  if (last !== null) requireTrust(walk, at, last, 'nobody else')
  return at
}

/** A name that is too long, or a disk that cannot be read, is told as such. */
function lookAt(walk: TrustedWalk, path: string): Stats | null {
  try {
    return walk.entryAt(path)
  } catch (error) {
    if (error instanceof ForkpointError) throw error
    throw walk.refuse((error as Error).message, error)
  }
}

/** A link that leads nowhere is a mistake: nothing is made at its end. */
function targetOf(walk: TrustedWalk, link: string): string {
  try {
    statSync(link)
    return readlinkSync(link)
  } catch (error) {
    throw walk.refuse(`${link} is a link that leads nowhere`, error)
  }
}

function requireTrust(walk: TrustedWalk, path: string, stats: Stats, rule: StickyRule): void {
  const { uid, gid } = stats
  // The mode of a link says nothing.
  const mode = stats.isSymbolicLink() ? 0 : stats.mode
  const people = trustedUsers(process.geteuid?.() ?? 0, process.env.SUDO_UID)
  const who = whoMayChange({ uid, gid, mode }, new Set([...people, unmappedId]), rule)
  if (who !== null) throw walk.refuse(`${path} ${who}`)
}

/** What is there; null if nothing is. */
export function existingEntry(path: string): Stats | null {
  return lstatSync(path, { throwIfNoEntry: false }) ?? null
}
