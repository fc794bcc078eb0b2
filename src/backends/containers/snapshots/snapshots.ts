import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import * as z from 'zod/mini'
import { killPoint } from '../../../linux/kill-points.ts'
import { type Stopwatch, stopwatch } from '../../../linux/stopwatch.ts'
import type { SnapshotId } from '../../../model/ids.ts'
import type { CaptureOptions, CaptureResult, Ref } from '../../backend.ts'
import { pauseContainer, unpauseContainer } from '../engine/containers.ts'
import { hasCheckpoints } from '../engine/engine-kind.ts'
import { ifFound } from '../engine/failures.ts'
import {
  commitContainer,
  inspectImage,
  lastLayerBytes,
  removeImage,
  tagImage,
  tagsWith,
} from '../engine/images.ts'
import { defaultsOf, type Life, lifeOf } from '../instance.ts'
import { relaysEnded } from '../lives/relays.ts'
import { basePrefix, buildPrefix, trashPrefix } from '../names.ts'
import type { Room } from '../room.ts'
import { removeArchive } from './archive-files.ts'
import { checkpoint, isCheckpointed, restoreInPlace } from './archives.ts'
import { dumpPaused, giveBack, removeImages } from './directories.ts'

/** Captures as much as was asked for. */
export function capture(
  room: Room,
  ref: Ref,
  draft: SnapshotId,
  options: CaptureOptions,
): Promise<CaptureResult> {
  return options.mode === 'full'
    ? captureProcesses(room, ref, draft, options)
    : captureFiles(room, ref, draft)
}

/** Commits the container's files as an image. The engine pauses it meanwhile, and processes are not in it. */
async function captureFiles(room: Room, ref: Ref, draft: SnapshotId): Promise<CaptureResult> {
  const client = room.client()
  const { container, ...life } = lifeOf(ref.instance)
  const frozenAt = performance.now()
  await commitContainer(client, container, imageName(room, draft))
  const thawedAt = performance.now()
  killPoint('snapshot:copied')
  return {
    image: { kind: 'container', ...defaultsOf(life) },
    captured: ['filesystem'],
    original: 'runs',
    durable: hasCheckpoints(room.kind) && (await flushEngine(room)),
    filesBytes: await lastLayerBytes(client, snapshotImage(room, draft)),
    imagesBytes: 0,
    memory: null,
    frozenAt,
    thawedAt,
    phases: [{ name: 'commit', ms: thawedAt - frozenAt }],
  }
}

/** Dumps files and processes of the same moment. */
async function captureProcesses(
  room: Room,
  ref: Ref,
  draft: SnapshotId,
  { after }: CaptureOptions,
): Promise<CaptureResult> {
  const life = lifeOf(ref.instance)
  await relaysEnded(room, life.container)
  const watch = stopwatch()
  const frozenAt = performance.now()
  const take = room.kind.checkpoints === 'archive' ? takeArchive : takeDirectory
  const taken = await take(room, life, draft, after, watch)
  return {
    image: { kind: 'checkpoint', ...defaultsOf(life) },
    captured: ['filesystem', 'processes', 'terminal'],
    original: after === 'continue' ? 'runs' : 'stays-frozen',
    ...taken,
    memory: null,
    frozenAt,
    phases: watch.phases,
  }
}

type Taken = Pick<CaptureResult, 'durable' | 'filesBytes' | 'imagesBytes' | 'thawedAt'>

/** Podman dumps the container with its files, and restores it in place. */
async function takeArchive(
  room: Room,
  { container, exportDir }: Life,
  draft: SnapshotId,
  after: CaptureOptions['after'],
  watch: Stopwatch,
): Promise<Taken> {
  const imagesBytes = await watch.measure('checkpoint', () =>
    checkpoint(room, container, draft, exportDir),
  )
  killPoint('snapshot:dumped')
  if (after === 'continue') await watch.measure('restore', () => restoreInPlace(room, container))
  const thawedAt = after === 'continue' ? performance.now() : null
  // The file is on disk, and so has its image been since the environment was created.
  return { durable: true, filesBytes: 0, imagesBytes, thawedAt }
}

/** Docker dumps processes and commits files while the container is paused. */
async function takeDirectory(
  room: Room,
  { container }: Life,
  draft: SnapshotId,
  after: CaptureOptions['after'],
  watch: Stopwatch,
): Promise<Taken> {
  const client = room.client()
  await watch.measure('pause', () => pauseContainer(client, container))
  const imagesBytes = await watch.measure('checkpoint', () => dumpPaused(room, container, draft))
  await watch.measure('commit', () =>
    commitContainer(client, container, imageName(room, draft), { pause: 'false' }),
  )
  killPoint('snapshot:copied')
  if (after === 'continue') {
    await watch.measure('unpause', () => unpauseContainer(client, container))
  }
  const thawedAt = after === 'continue' ? performance.now() : null
  const filesBytes = await lastLayerBytes(client, snapshotImage(room, draft))
  await watch.measure('flush', () => flush(room.checkpoints))
  return { durable: await flushEngine(room), filesBytes, imagesBytes, thawedAt }
}

/** Undoes a capture. A container whose processes wait for the end of it continues. */
export async function abandon(room: Room, ref: Ref | null, draft: SnapshotId): Promise<void> {
  const { checkpoints } = room.kind
  if (ref !== null) {
    const { container } = lifeOf(ref.instance)
    if (checkpoints === 'directory') await giveBack(room, container, draft)
    const isGone = checkpoints === 'archive' && (await isCheckpointed(room, container))
    if (isGone) await restoreInPlace(room, container)
  }
  await discard(room, draft)
}

function imageName({ names }: Room, id: SnapshotId) {
  return { repository: names.repository, tag: names.snapshot(id) }
}

/** The name of a snapshot's image. */
export function snapshotImage({ names }: Room, id: SnapshotId): string {
  return `${names.repository}:${names.snapshot(id)}`
}

/**
 * Removes a snapshot's image. The engine keeps one that a container still uses: it gets another tag, by
 * which it is found when the container is gone.
 */
export async function discard(room: Room, id: SnapshotId): Promise<void> {
  if (!room.isUsed()) return
  if (room.kind.checkpoints === 'archive') await removeArchive(room, id)
  if (room.kind.checkpoints === 'directory') await removeImages(room, id)
  const client = room.client()
  const name = snapshotImage(room, id)
  if ((await ifFound(() => inspectImage(client, name))) === null) return
  await tagImage(client, name, room.names, room.names.trash(id))
  await removeImage(client, name)
  await removeImage(client, `${room.names.repository}:${room.names.trash(id)}`)
}

/** Removes the images of deleted snapshots that no container uses anymore. */
export async function sweepTrash(room: Room): Promise<void> {
  await removeTagged(room, trashPrefix)
}

/** Removes the images that were built for environments, and the tags of others; those in use stay. */
export async function sweepImages(room: Room): Promise<void> {
  await removeTagged(room, buildPrefix)
  await removeTagged(room, basePrefix)
}

/** Keeps the image of an environment: its checkpoints hold only what differs from it. */
export async function keepBase(room: Room, image: string): Promise<void> {
  await tagImage(room.client(), image, room.names, room.names.base(image))
  await flushEngine(room)
}

const info = z.object({ DockerRootDir: z.string() })

/** Writes everything that the engine has stored to disk. */
async function flushEngine(room: Room): Promise<true> {
  const { DockerRootDir } = await room.client().json(info, { method: 'GET', path: '/info' })
  await flush(DockerRootDir)
  return true
}

/** Writes a whole file system to disk. */
async function flush(directory: string): Promise<void> {
  await promisify(execFile)('sync', ['-f', directory])
}

async function removeTagged(room: Room, prefix: string): Promise<void> {
  const client = room.client()
  for (const tag of await tagsWith(client, room.names, prefix)) await removeImage(client, tag)
}
