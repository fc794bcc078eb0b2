// The archives of checkpoints. One that is kept elsewhere has a symlink in the home, made before it is
// written, so that whatever a killed process left is found by the id of its snapshot.
import { createWriteStream } from 'node:fs'
import { mkdir, open, readlink, rename, rm, stat, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { SnapshotId } from '../../../model/ids.ts'
import type { Room } from '../room.ts'
import { openExportDir } from './export-dir.ts'

/** CRIU's images and what the container has written; may be a symlink. */
export function archiveFile({ checkpoints }: Pick<Room, 'checkpoints'>, id: SnapshotId): string {
  return join(checkpoints, `${id}.tar`)
}

type Place = Pick<Room, 'checkpoints' | 'names'>

/** Where the archive of a snapshot is to be written. */
export async function reserveArchive(
  room: Place,
  id: SnapshotId,
  exportDir: string | null,
): Promise<string> {
  await mkdir(room.checkpoints, { recursive: true, mode: 0o700 })
  const file = archiveFile(room, id)
  if (exportDir === null) return file
  const target = join(await openExportDir(exportDir), room.names.archive(id))
  await symlink(target, file)
  await flush(room.checkpoints)
  return target
}

/** Writes an archive to a reserved place, so that it is either whole and on disk or not there; returns its bytes. */
export async function writeArchive(file: string, content: Readable): Promise<number> {
  const draft = `${file}.new`
  await pipeline(content, createWriteStream(draft, { mode: 0o600, flags: 'wx', flush: true }))
  await rename(draft, file)
  await flush(dirname(file))
  return (await stat(file)).size
}

async function flush(directory: string): Promise<void> {
  await using handle = await open(directory)
  await handle.sync()
}

export async function removeArchive(room: Place, id: SnapshotId): Promise<void> {
  const file = archiveFile(room, id)
  const elsewhere = await targetOf(file)
  const parts = [elsewhere, file].flatMap((path) => (path === null ? [] : [path, `${path}.new`]))
  // The symlink last: without it, nobody would find the rest.
  for (const path of parts) await rm(path, { force: true })
}

async function targetOf(file: string): Promise<string | null> {
  try {
    return await readlink(file)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // It is the archive itself, or there is none.
    if (code === 'EINVAL' || code === 'ENOENT') return null
    throw error
  }
}
