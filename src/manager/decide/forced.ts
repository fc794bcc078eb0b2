/** What may have changed an environment without being in its command log. */
export interface Circumstances {
  /** whether there is a physical snapshot that a replay could begin at */
  readonly hasBase: boolean
  /** what was done other than by `execCommand` since the last physical snapshot; null: nothing */
  readonly unlogged: string | null
  /** whether the environment still continues from where this manager left it */
  readonly isWhereWeLeftIt: boolean
  readonly terminals: number
  /** commands that still run inside and do not belong to `execCommand` */
  readonly running: number
  readonly hooks: number
}

/** Why only a physical snapshot is right; null if a decider may choose. Pure. */
export function whyPhysical(now: Circumstances): string | null {
  if (!now.hasBase) return 'there is no physical snapshot to replay from'
  if (now.hooks > 0) return 'hooks branch something outside, which a replay would change again'
  if (!now.isWhereWeLeftIt) return 'somebody else took a snapshot or restored one'
  if (now.unlogged !== null) return now.unlogged
  if (now.terminals > 0) return 'a terminal is open, in which anything can be typed'
  if (now.running > 0) return 'a command still runs inside'
  return null
}
