// Docker's checkpoints: a directory of CRIU's images beside the image that the engine commits. They are
// taken while the container is paused, so that files and memory are of the same moment.
import { constants } from 'node:fs'
import { copyFile, link, mkdir, readdir, rename, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod/mini'
import { killPoint } from '../../../linux/kill-points.ts'
import type { SnapshotId } from '../../../model/ids.ts'
import { path } from '../engine/client.ts'
import { createContainer, inspectContainer, unpauseContainer } from '../engine/containers.ts'
import { EngineRefusal, unlessRefused } from '../engine/failures.ts'
import type { Room } from '../room.ts'
import { explained } from './criu-failures.ts'

/** Where the images of a snapshot are kept. */
function imagesOf({ checkpoints }: Room, id: SnapshotId): string {
  return join(checkpoints, id)
}

const info = z.object({ DockerRootDir: z.string() })

/** Where the engine looks for the checkpoint of a container. */
async function engineDirectory(room: Room, container: string, id: SnapshotId): Promise<string> {
  const { DockerRootDir } = await room.client().json(info, { method: 'GET', path: '/info' })
  return join(DockerRootDir, 'containers', container, 'checkpoints', id)
}

/** Dumps a paused container, which stays paused; returns the bytes of the images. */
export async function dumpPaused(room: Room, container: string, id: SnapshotId): Promise<number> {
  await explained(() =>
    room.client().text({
      method: 'POST',
      path: path`/containers/${container}/checkpoints`,
      body: { CheckpointID: id, Exit: false },
    }),
  )
  killPoint('snapshot:dumped')
  const kept = imagesOf(room, id)
  await mkdir(room.checkpoints, { recursive: true, mode: 0o700 })
  await copyLinked(await engineDirectory(room, container, id), `${kept}.new`)
  await rename(`${kept}.new`, kept)
  await forget(room, container, id)
  return await bytesOf(kept)
}

async function bytesOf(directory: string): Promise<number> {
  const names = await readdir(directory)
  const sizes = await Promise.all(names.map((name) => stat(join(directory, name))))
  return sizes.reduce((sum, { size }) => sum + size, 0)
}

/** Nobody changes the images, so links are as good as copies. */
async function copyLinked(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true, mode: 0o700 })
  for (const name of await readdir(from)) await linkOrCopy(join(from, name), join(to, name))
}

/** Docker mounts its directory once more, and there is no link between two mounts of a file system. */
async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EXDEV' && code !== 'EMLINK') throw error
    await copyFile(from, to, constants.COPYFILE_FICLONE)
  }
}

/** Removes the engine's own copy. */
async function forget(room: Room, container: string, id: SnapshotId): Promise<void> {
  // Docker answers 500 if there is none.
  await unlessRefused([404, 500], () =>
    room
      .client()
      .text({ method: 'DELETE', path: path`/containers/${container}/checkpoints/${id}` }),
  )
}

/** A capture of it ended half-way: lets the container continue. */
export async function giveBack(room: Room, container: string, id: SnapshotId): Promise<void> {
  const found = await inspectContainer(room.client(), container)
  if (found === null) return
  await forget(room, container, id)
  if (found.State.Status === 'paused') await unpauseContainer(room.client(), container)
}

export async function removeImages(room: Room, id: SnapshotId): Promise<void> {
  const kept = imagesOf(room, id)
  for (const path of [kept, `${kept}.new`]) await rm(path, { recursive: true, force: true })
}

/** Makes a container of a snapshot's image, and starts it with the snapshot's processes. */
export async function startFrom(
  room: Room,
  name: string,
  body: object,
  id: SnapshotId,
): Promise<string> {
  const container = await createContainer(room.client(), name, body)
  killPoint('launch:directories')
  await copyLinked(imagesOf(room, id), await engineDirectory(room, container, id))
  // The engine stores the images once more by their digest meanwhile, and refuses what is there already.
  await room.exclusively(`start:${room.kind.name}`, 'starting processes', () =>
    startWith(room, container, id),
  )
  await forget(room, container, id)
  return container
}

const mostTries = 20
const pauseMs = 100

/** Another home may start from the same images. */
async function startWith(room: Room, container: string, checkpoint: SnapshotId): Promise<void> {
  for (let tries = 1; ; tries += 1) {
    try {
      await explained(() =>
        room.client().text({
          method: 'POST',
          path: path`/containers/${container}/start`,
          query: { checkpoint },
        }),
      )
      return
    } catch (error) {
      const isTaken = error instanceof EngineRefusal && /already exists/.test(error.message)
      if (!isTaken || tries === mostTries) throw error
      await sleep(pauseMs)
    }
  }
}
