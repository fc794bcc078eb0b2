import { existsSync, lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { unmappedId } from '../model/unmapped-id.ts'

const parents = { disk: '/var/tmp', memory: '/dev/shm' }

/** A directory of this run outside its home, for what is measured beside Forkpoint. */
export function makePlace(on: keyof typeof parents): string {
  return mkdtempSync(join(parents[on], `fp-bench-${process.pid}-`))
}

export function removePlace(path: string): void {
  rmSync(path, { recursive: true, force: true })
}

export interface Left {
  readonly path: string
  /** the process that made it, and is gone */
  readonly run: number
}

export function leftPlaces(): Left[] {
  return Object.values(parents).flatMap((parent) => leftBehind(parent, /^fp-bench-(\d+)-/))
}

/** Directories of ours whose run is over; its pid is in their names. */
export function leftBehind(parent: string, name: RegExp): Left[] {
  if (!existsSync(parent)) return []
  return readdirSync(parent).flatMap((entry) => {
    const [, run] = name.exec(entry) ?? []
    if (run === undefined || existsSync(`/proc/${run}`)) return []
    const path = join(parent, entry)
    const owner = lstatSync(path, { throwIfNoEntry: false })?.uid
    // A home is closed to environments by its owner, whom only root can make one.
    const isOurs = owner === process.getuid?.() || owner === unmappedId
    return isOurs ? [{ path, run: Number(run) }] : []
  })
}
