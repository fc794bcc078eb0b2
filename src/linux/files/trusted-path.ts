import { lstatSync, readlinkSync, type Stats, statSync } from 'node:fs'
import { join, sep } from 'node:path'
import { ForkpointError } from '../../model/errors.ts'
import { type StickyRule, trustedUsers, whoMayChange } from '../../model/files/trust.ts'
import { unmappedId } from '../../model/files/unmapped-id.ts'

/** The kernel's own limit. */
const maxLinks = 40

export interface TrustedWalk {
  /** the entry at a path, made if necessary; null ends the walk there */
  entryAt(path: string): Stats | null
  /** the error that says why a path cannot be used */
  refuse(why: string, cause?: unknown): Error
}

/**
 * Follows a path step by step and link by link. Refuses it if anybody except root and the current user
 * could replace a part of it.
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
      if (links > maxLinks) throw walk.refuse('its links form a loop')
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

/** Explains failures such as a name that is too long or an unreadable disk. */
function lookAt(walk: TrustedWalk, path: string): Stats | null {
  try {
    return walk.entryAt(path)
  } catch (error) {
    if (error instanceof ForkpointError) throw error
    throw walk.refuse((error as Error).message, error)
  }
}

/** Refuses a dangling link: nothing is made at its target. */
function targetOf(walk: TrustedWalk, link: string): string {
  try {
    statSync(link)
    return readlinkSync(link)
  } catch (error) {
    throw walk.refuse(`${link} is a dangling link`, error)
  }
}

function requireTrust(walk: TrustedWalk, path: string, stats: Stats, rule: StickyRule): void {
  const { uid, gid } = stats
  // The mode of a link means nothing.
  const mode = stats.isSymbolicLink() ? 0 : stats.mode
  const people = trustedUsers(process.geteuid?.() ?? 0, process.env.SUDO_UID)
  const who = whoMayChange({ uid, gid, mode }, new Set([...people, unmappedId]), rule)
  if (who !== null) throw walk.refuse(`${path} ${who}`)
}

/** The entry at the path; null if it does not exist. */
export function existingEntry(path: string): Stats | null {
  return lstatSync(path, { throwIfNoEntry: false }) ?? null
}
