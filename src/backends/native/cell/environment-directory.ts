import { randomUUID } from 'node:crypto'
import { closeSync, constants, fchownSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makePagesDirectory } from '../../../criu/memory/pages-files.ts'
import { chmod, chown, lstat, mkdir, rename, rm } from '../../../linux/files/quick-fs.ts'
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

const plain = (rootId: number): Attributes => ({ mode: 0o755, uid: rootId, gid: rootId })

/** Only `run` belongs to root inside; the directories around it are ours. */
export async function makeDirectories(place: EnvironmentPlaces, rootId: number): Promise<void> {
  await mkdir(place.stage, { recursive: true })
  await makePagesDirectory(place.pages)
  // The first process of the cell passes through it after becoming root inside.
  await chmod(place.dir, 0o711)
  await makeDirectory(place.run, plain(rootId))
}

/**
 * The directories that an environment without a subvolume writes to. `/` inside takes its mode and owner
 * from the upper, whatever the layers below have. `root` is what an earlier life had.
 */
export async function makeUpper(
  place: EnvironmentPlaces,
  rootId: number,
  root?: Attributes,
): Promise<void> {
  await makeDirectory(place.upper, root ?? plain(rootId))
  await makeDirectory(place.work, plain(rootId))
}

/** Sets the mode after the owner, because a change of owner clears some bits. */
async function makeDirectory(dir: string, { mode, uid, gid }: Attributes): Promise<void> {
  await mkdir(dir, { recursive: true })
  await chown(dir, uid, gid)
  await chmod(dir, mode)
}

/**
 * Writes a draft next to the file and renames it: the directory is writable inside, and a link planted
 * there must be replaced, never followed.
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
