import { randomUUID } from 'node:crypto'
import { closeSync, constants, fchownSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { chmod, chown, mkdir, rename, rm } from '../../system/quick-fs.ts'
import type { Identity } from '../backend.ts'
import { makePagesDirectory } from './memory/pages-files.ts'
import type { EnvironmentPlaces } from './places.ts'

/** What the sandbox owns (upper, work, run) belongs to its root; what is ours around it does not. */
export async function makeDirectories(place: EnvironmentPlaces, rootId: number): Promise<void> {
  await mkdir(place.stage, { recursive: true })
  await makePagesDirectory(place.pages)
  // The cell's first process passes through it when it is already the sandbox's root.
  await chmod(place.dir, 0o711)
  for (const dir of [place.upper, place.work, place.run]) {
    await mkdir(dir, { recursive: true })
    await chmod(dir, 0o755)
    await chown(dir, rootId, rootId)
  }
}

/**
 * Written beside its place and renamed over it: the directory is writable inside, and a link that
 * was planted there must be replaced, never followed.
 */
export async function writeIdentity(
  place: EnvironmentPlaces,
  identity: Identity,
  rootId: number,
): Promise<void> {
  const draft = join(place.run, `.identity-${randomUUID()}`)
  const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
  const file = openSync(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o644)
  try {
    writeFileSync(file, `${JSON.stringify(identity, null, 2)}\n`)
    fchownSync(file, rootId, rootId)
  } finally {
    closeSync(file)
  }
  try {
    await rename(draft, join(place.run, 'identity.json'))
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}
