import { existsSync, lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { unmappedId } from '../../model/files/unmapped-id.ts'

const parents = { disk: '/var/tmp', memory: '/dev/shm' }

/** A directory for this run outside its home, for the other tools. */
export function makePlace(on: keyof typeof parents): string {
  return mkdtempSync(join(parents[on], `fp-bench-${process.pid}-`))
}

export function removePlace(path: string): void {
  rmSync(path, { recursive: true, force: true })
}

export interface Left {
  readonly path: string
  /** the process that made it and has ended */
  readonly run: number
}

export function leftPlaces(): Left[] {
  return Object.values(parents).flatMap((parent) => leftBehind(parent, /^fp-bench-(\d+)-/))
}

/** Our directories from runs that are over; the pid of the run is in the name. */
export function leftBehind(parent: string, name: RegExp): Left[] {
  if (!existsSync(parent)) return []
  return readdirSync(parent).flatMap((entry) => {
    const [, run] = name.exec(entry) ?? []
    if (run === undefined || existsSync(`/proc/${run}`)) return []
    const path = join(parent, entry)
    const owner = lstatSync(path, { throwIfNoEntry: false })?.uid
    // A home has an owner that only root can set, which closes it to environments.
    const isOurs = owner === process.getuid?.() || owner === unmappedId
    return isOurs ? [{ path, run: Number(run) }] : []
  })
}
