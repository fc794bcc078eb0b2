import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { capabilityOf } from '../../../model/capabilities.ts'
import type { Source } from '../../../model/environment.ts'
import { InvalidInputError, NotFoundError, UnsupportedError } from '../../../model/errors.ts'
import { quote } from '../../../model/text/quote.ts'
import { EngineRefusal } from '../engine/failures.ts'
import { type Image, inspectImage, tagImage } from '../engine/images.ts'
import { type Progress, readProgress } from '../engine/progress.ts'
import type { Room } from '../room.ts'
import { buildContext } from './build-context.ts'

/** The image that environments from this source run; pulls or builds it if the engine lacks it. */
export async function imageFor(room: Room, source: Source, signal?: AbortSignal): Promise<Image> {
  switch (source.kind) {
    case 'image':
      return await namedImage(room, source.ref, signal)
    case 'dockerfile':
      return await builtImage(room, source.dir, signal)
    default:
      throw noSuchSource(room, source)
  }
}

function noSuchSource({ kind: { name } }: Room, { kind }: Source): UnsupportedError {
  const message = `the ${name} backend cannot start from ${kind}`
  const remedy = 'use image:REF or dockerfile:DIR'
  return new UnsupportedError(capabilityOf({ kind }), message, { remedy })
}

async function namedImage(room: Room, ref: string, signal?: AbortSignal): Promise<Image> {
  const client = room.client()
  const local = await inspectImage(client, ref)
  if (local !== null) return local
  room.log.info({ image: ref, engine: client.where }, `pulling ${ref}`)
  await pull(room, ref, signal)
  const pulled = await inspectImage(client, ref)
  if (pulled !== null) return pulled
  throw noSuchImage(room, ref, new Error('it was pulled, and is still missing'))
}

async function pull(room: Room, ref: string, signal?: AbortSignal): Promise<void> {
  // Without a tag the engine would pull all of them.
  const hasTag = /(?::[^/]+|@sha256:\w+)$/.test(ref)
  const call = {
    method: 'POST',
    path: '/images/create',
    query: { fromImage: hasTag ? ref : `${ref}:latest` },
    signal,
  } as const
  try {
    await readProgress(await room.client().stream(call), `pulling ${ref}`)
  } catch (error) {
    if (error instanceof EngineRefusal || signal?.aborted !== true) {
      throw noSuchImage(room, ref, error)
    }
    throw error
  }
}

function noSuchImage({ kind: { engine } }: Room, ref: string, cause: unknown): NotFoundError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new NotFoundError(`${engine} has no image ${quote(ref)}, and cannot pull it: ${why}`, {
    remedy: `check the name with \`${engine} images\`, or make the image first`,
    cause,
  })
}

async function builtImage(room: Room, dir: string, signal?: AbortSignal): Promise<Image> {
  if (!existsSync(join(dir, 'Dockerfile'))) {
    throw new InvalidInputError(`${quote(dir)} has no Dockerfile`, {
      remedy: 'give a directory with a file named Dockerfile',
    })
  }
  const client = room.client()
  room.setUsed()
  room.log.info({ dir, engine: client.where }, `building ${dir}`)
  const [label = '', key = ''] = room.names.home.split('=')
  const response = await client.stream({
    method: 'POST',
    path: '/build',
    query: { rm: 1, forcerm: 1, labels: JSON.stringify({ [label]: key }) },
    body: await buildContext(dir),
    signal,
  })
  const id = imageIdIn(await readProgress(response, `building ${dir}`))
  const image = id === null ? null : await inspectImage(client, id)
  if (image === null) {
    throw new InvalidInputError(`building ${quote(dir)} gave no image`, {
      remedy: `check with \`${room.kind.engine} build ${dir}\``,
    })
  }
  await tagImage(client, image.id, room.names, room.names.build(image.id))
  return image
}

/** Engines that have no field for it print it last. */
function imageIdIn({ imageId, lines }: Progress): string | null {
  if (imageId !== null) return imageId
  const found = lines.map((line) =>
    /(?:^|Successfully built )(?:sha256:)?([0-9a-f]{12,64})$/.exec(line),
  )
  return found.findLast((match) => match !== null)?.[1] ?? null
}
