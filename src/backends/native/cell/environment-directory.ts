import { randomUUID } from 'node:crypto'
import { closeSync, constants, fchownSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makePagesDirectory } from '../../../criu/memory/pages-files.ts'
import { chmod, chown, lstat, mkdir, rename, rm } from '../../../linux/quick-fs.ts'
import type { Identity } from '../../backend.ts'
import type { EnvironmentPlaces } from '../places.ts'

/** Mode and owner of a directory, as they are on disk. */
export interface Attributes {
  readonly mode: number
  readonly uid: number
  readonly gid: number
}

export async function attributesOf(dir: string): Promise<Attributes> {
  const { mode, uid, gid } = await lstat(dir)
  return { mode: mode & 0o7777, uid, gid }
}

/**
 * What the sandbox owns (upper, work, run) belongs to its root; what is ours around it does not. The
 * upper is what `/` inside has its mode and owner from, whatever the layers below it say; `root` is
 * what they were before, if there was a before.
 */
export async function makeDirectories(
  place: EnvironmentPlaces,
  rootId: number,
  root?: Attributes,
): Promise<void> {
  const plain = { mode: 0o755, uid: rootId, gid: rootId }
  await mkdir(place.stage, { recursive: true })
  await makePagesDirectory(place.pages)
  // The cell's first process passes through it when it is already the sandbox's root.
  await chmod(place.dir, 0o711)
  await makeDirectory(place.upper, root ?? plain)
  await makeDirectory(place.work, plain)
  await makeDirectory(place.run, plain)
}

/** The mode after the owner: a change of owner takes some bits away. */
async function makeDirectory(dir: string, { mode, uid, gid }: Attributes): Promise<void> {
  await mkdir(dir, { recursive: true })
  await chown(dir, uid, gid)
  await chmod(dir, mode)
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
