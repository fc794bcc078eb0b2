/** The attributes of a file or directory that say who may change it. */
export interface Ownership {
  readonly uid: number
  readonly gid: number
  readonly mode: number
}

/** Whether a sticky directory, in which users can only move their own entries, counts as trusted. */
export type StickyRule = 'sticky is enough' | 'nobody else'

/**
 * Who, besides `trusted` users, could change a file or the names in a directory, in words that follow
 * its path; null if nobody.
 */
export function whoMayChange(
  { uid, gid, mode }: Ownership,
  trusted: ReadonlySet<number>,
  rule: StickyRule = 'nobody else',
): string | null {
  if (!trusted.has(uid)) return `belongs to uid ${uid}`
  if (rule === 'sticky is enough' && (mode & 0o1000) !== 0) return null
  if ((mode & 0o002) !== 0) return 'can be written by everybody'
  if ((mode & 0o020) !== 0 && gid !== 0) return `can be written by group ${gid}`
  return null
}

/** Root, the user who runs this, and the user who called it through sudo, who is effectively root. */
export function trustedUsers(self: number, sudoUid: string | undefined): ReadonlySet<number> {
  const caller = /^\d{1,10}$/.test(sudoUid ?? '') ? [Number(sudoUid)] : []
  return new Set([0, self, ...caller])
}
