import { randomInt } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ifExists } from '../../../linux/files/if-exists.ts'
import { makeOwnDirectory } from '../../../linux/files/own-directory.ts'
import { ResourceError } from '../../../model/errors.ts'
import type { NativeSettings } from '../../../model/settings.ts'

/**
 * Every life of an environment has its own range of host ids, so that limits the kernel counts per user
 * apply to it alone, and a process that breaks out owns nothing on the host. On disk, all lives use the
 * same ids, from `ids.base` on, which mounts shift. No life gets that range.
 *
 * A life takes a range by creating a file named after it, which holds the directory of the life. All
 * homes of the machine share one directory of these files, so that no two ranges overlap.
 */
export interface IdRange {
  readonly base: number
  readonly count: number
}

const taken = '/run/forkpoint/ids'
/** Marks the range that files have on disk, which lives of other homes must not get either. */
const diskPrefix = 'disk-'
/** Some programs read a larger id as a negative number. */
const endOfIds = 2 ** 31
const maxTries = 1000

export function takeIds({ base, count }: NativeSettings['ids'], life: string): IdRange {
  makeOwnDirectory(taken)
  const onDisk = diskPrefix + nameOf({ base, count })
  if (!existsSync(join(taken, onDisk))) make(onDisk, life)
  const ranges = Math.floor((endOfIds - base) / count)
  for (let tries = 0; ranges > 1 && tries < maxTries; tries += 1) {
    // At random: there are many ranges, so the first try usually finds a free one.
    const range = { base: base + count * randomInt(1, ranges), count }
    if (claim(range, life)) return range
  }
  throw new ResourceError(`no ids are free: there are ${ranges} ranges of ${count}`, {
    remedy: 'remove environments, or lower `ids.count` or `ids.base`',
    detail: { base, count },
  })
}

/** Notes the range in the directory of the life. */
function claim(range: IdRange, life: string): boolean {
  const name = nameOf(range)
  if (!make(name, life)) return false
  try {
    // Checked only now: two lives that begin at the same moment see each other, and both try again.
    const isFree = readdirSync(taken).every((other) => other === name || !overlaps(range, other))
    if (isFree) writeFileSync(noteIn(life), name)
    else rmSync(join(taken, name), { force: true })
    return isFree
  } catch (error) {
    rmSync(join(taken, name), { force: true })
    throw error
  }
}

/** False if it exists. */
function make(name: string, life: string): boolean {
  try {
    writeFileSync(join(taken, name), life, { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
}

function nameOf({ base, count }: IdRange): string {
  return `${base}-${count}`
}

/** Earlier versions wrote only the first id, and all ranges had the default size. */
const formerCount = 65_536

/** Whether a range has ids in common with the one that a file is named after. */
export function overlaps(range: IdRange, name: string): boolean {
  const [base = 0, count = formerCount] = name.replace(diskPrefix, '').split('-').map(Number)
  return range.base < base + count && base < range.base + range.count
}

function noteIn(life: string): string {
  return join(life, 'ids')
}

/** Frees the range of a life, before its directory is removed; does nothing if it has none. */
export function freeIds(life: string): void {
  const name = ifExists(() => readFileSync(noteIn(life), 'utf8'))
  if (name) rmSync(join(taken, name), { force: true })
}

/** Frees the ranges of lives that no longer exist, which a killed process leaves taken. */
export function freeAbandonedIds(): void {
  for (const name of ifExists(() => readdirSync(taken)) ?? []) {
    const file = join(taken, name)
    const life = ifExists(() => readFileSync(file, 'utf8'))
    if (life !== null && !existsSync(life)) rmSync(file, { force: true })
  }
}
