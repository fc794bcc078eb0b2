// Podman's own calls, which Docker's API does not have: a container is dumped with its processes, and
// restored in place or as another container.
import { createReadStream } from 'node:fs'
import * as z from 'zod/mini'
import type { SnapshotId } from '../../../model/ids.ts'
import { path } from '../engine/client.ts'
import { ifFound } from '../engine/failures.ts'
import type { Room } from '../room.ts'
import { archiveFile, reserveArchive, writeArchive } from './archive-files.ts'
import { explained } from './criu-failures.ts'

/** Podman 4 has these calls. */
const libpod = '/v4.0.0/libpod'

/** Connections within the container and locks are dumped and restored, too. */
const complete = { tcpEstablished: 'true', fileLocks: 'true' }

/**
 * Dumps a container into the archive of a snapshot; returns its bytes. The container has no processes
 * afterwards, and `restoreInPlace` brings them back. If the dump fails, it continues.
 */
export async function checkpoint(
  room: Room,
  container: string,
  id: SnapshotId,
  exportDir: string | null,
): Promise<number> {
  const file = await reserveArchive(room, id, exportDir)
  const response = await explained(() =>
    room.client().stream({
      method: 'POST',
      path: `${libpod}${path`/containers/${container}/checkpoint`}`,
      query: { export: 'true', keep: 'true', ...complete },
    }),
  )
  return await writeArchive(file, response)
}

const inspected = z.object({ State: z.object({ Checkpointed: z.nullish(z.boolean()) }) })

/** Whether it was dumped, and waits for its processes to be restored. */
export async function isCheckpointed({ client }: Room, container: string): Promise<boolean> {
  const call = { method: 'GET', path: `${libpod}${path`/containers/${container}/json`}` } as const
  const found = await ifFound(() => client().json(inspected, call))
  return found?.State.Checkpointed === true
}

export async function restoreInPlace({ client }: Room, container: string): Promise<void> {
  await explained(() =>
    client().text({
      method: 'POST',
      path: `${libpod}${path`/containers/${container}/restore`}`,
      query: complete,
    }),
  )
}

const restored = z.object({ Id: z.string() })

/** Makes another container of this name from the file of a snapshot. */
export async function restoreAs(room: Room, name: string, id: SnapshotId): Promise<string> {
  const { Id } = await explained(() =>
    room.client().json(restored, {
      method: 'POST',
      path: `${libpod}${path`/containers/${name}/restore`}`,
      query: { import: 'true', name, ...complete },
      body: createReadStream(archiveFile(room, id)),
    }),
  )
  return Id
}
