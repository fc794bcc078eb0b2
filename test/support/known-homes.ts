// The homes of one test file, and how many cells were made in them, by whatever process.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

export interface Cells {
  /** operations that made a cell, ever */
  readonly made: number
  /** environments that run now */
  readonly alive: number
}

const homes = new Set<string>()
let madeInForgotten = 0

export function knowHome(path: string): void {
  homes.add(path)
}

/** Before the home is deleted. */
export function forgetHome(path: string): void {
  if (homes.delete(path)) madeInForgotten += cellsIn(path).made
}

export function cellsOfThisFile(): Cells {
  const all = Array.from(homes, cellsIn)
  return {
    made: all.reduce((sum, { made }) => sum + made, madeInForgotten),
    alive: all.reduce((sum, { alive }) => sum + alive, 0),
  }
}

const made = `SELECT count(*) AS n FROM journal WHERE state = 'done'
  AND kind IN ('create', 'snapshot', 'restore', 'fork', 'promote', 'resume')`
const alive = `SELECT count(*) AS n FROM environments WHERE status = 'running'`

function cellsIn(home: string): Cells {
  const file = join(home, 'db.sqlite')
  if (!existsSync(file)) return { made: 0, alive: 0 }
  try {
    using db = new DatabaseSync(file, { readOnly: true })
    const count = (sql: string) => Number(db.prepare(sql).get()?.n)
    return { made: count(made), alive: count(alive) }
  } catch {
    // Some tests break the database of their home on purpose; then it proves nothing.
    return { made: 0, alive: 0 }
  }
}
