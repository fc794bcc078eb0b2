import { randomInt } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ifThere } from '../../../linux/if-there.ts'
import { makeOwnDirectory } from '../../../linux/own-directory.ts'
import { ResourceError } from '../../../model/errors.ts'
import type { Settings } from '../../../model/settings.ts'

/**
 * Every life of an environment has host ids of its own: what the kernel counts per user is counted for
 * it alone, and a process that breaks out has nobody's ids. On disk all of them have the same ones, from
 * `ids.base` on, which mounts shift; those are given to no life.
 *
 * A range is taken by a file named for its first id, made only if it is not there, which holds the
 * directory of the life. It is one place for all homes of the machine.
 */
export interface IdRange {
  readonly base: number
  readonly count: number
}

const taken = '/run/forkpoint/ids'
/** Beyond, some programs take an id for a negative number. */
const endOfIds = 2 ** 31
const mostTries = 1000

export function takeIds({ base, count }: Settings['ids'], life: string): IdRange {
  makeOwnDirectory(taken)
  const ranges = Math.floor((endOfIds - base) / count)
  for (let tries = 0; ranges > 1 && tries < mostTries; tries += 1) {
    // At random: they are many, and nobody has to know which are free.
    const range = { base: base + count * randomInt(1, ranges), count }
    if (claim(range, life)) return range
  }
  throw new ResourceError(`no ids are free: there are ${ranges} ranges of ${count}`, {
    remedy: 'remove environments, or set `ids.count` or `ids.base` to less',
    detail: { base, count },
  })
}

/** Its directory says which one a life has. */
function claim({ base }: IdRange, life: string): boolean {
  const file = join(taken, String(base))
  try {
    writeFileSync(file, life, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false
    throw error
  }
  try {
    writeFileSync(noteIn(life), String(base))
    return true
  } catch (error) {
    rmSync(file, { force: true })
    throw error
  }
}

function noteIn(life: string): string {
  return join(life, 'ids')
}

/** Gives back what a life has, before its directory goes; fine if it has none. */
export function giveBackIds(life: string): void {
  const base = ifThere(() => readFileSync(noteIn(life), 'utf8'))
  if (base) rmSync(join(taken, base), { force: true })
}

/** Those of lives that are no more: a process that was killed gave nothing back. */
export function giveBackAbandonedIds(): void {
  for (const name of ifThere(() => readdirSync(taken)) ?? []) {
    const file = join(taken, name)
    const life = ifThere(() => readFileSync(file, 'utf8'))
    if (life !== null && !existsSync(life)) rmSync(file, { force: true })
  }
}
