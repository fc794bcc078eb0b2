import { posix } from 'node:path'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { Busboy } from '@fastify/busboy'
import type { FastifyRequest } from 'fastify'
import type { Environment } from '../../../api/handles/environment.ts'
import { InvalidInputError } from '../../../model/errors.ts'
import { type Metadata, sentMetadata, shownMetadata, xattrsOf } from './metadata.ts'
import { insideUser, pathInside } from './users.ts'

interface Target {
  readonly environment: Environment
  /** of the query; each part of a form may name its own */
  readonly path: string | undefined
  readonly user: string | undefined
  readonly signal: AbortSignal
}

interface Writing extends Target {
  /** the same for all parts of a form */
  readonly metadata: Metadata
}

/** Parts of one form. */
const mostFiles = 1000

/** Writes the body of a request to the paths that it names, and says what was written. */
export async function upload(request: FastifyRequest, target: Target): Promise<readonly object[]> {
  const body = contentOf(request)
  const writing = { ...target, metadata: sentMetadata(request) }
  const type = String(request.headers['content-type'] ?? '')
  if (type.startsWith('multipart/form-data')) return await writeParts(body, type, writing)
  if (target.path !== undefined) return [await writeOne(writing, target.path, body)]
  throw new InvalidInputError('the upload names no path', { remedy: 'give one in the query' })
}

function contentOf({ body, headers }: FastifyRequest): Readable {
  const bytes = body as Readable
  return headers['content-encoding'] === 'gzip' ? bytes.compose(createGunzip()) : bytes
}

async function writeParts(body: Readable, type: string, target: Writing): Promise<object[]> {
  const form = new Busboy({
    headers: { 'content-type': type },
    // The name of a part is the path of its file.
    preservePath: true,
    limits: { files: mostFiles, fields: 0, fieldNameSize: 100, headerPairs: 100 },
  })
  const written: Promise<object>[] = []
  const ended = Promise.withResolvers<void>()
  form.on('file', (_field, part, name) => {
    const one = writeOne(target, target.path ?? name, part)
    // The others are written all the same; whoever asked gets the failure below.
    one.catch(() => part.resume())
    written.push(one)
  })
  form.on('finish', ended.resolve)
  form.on('error', ended.reject)
  form.on('filesLimit', () => ended.reject(tooMany()))
  body.on('error', ended.reject)
  body.pipe(form)
  await ended.promise
  return await Promise.all(written)
}

async function writeOne(target: Writing, named: string, content: Readable): Promise<object> {
  const { environment, user, metadata, signal } = target
  const path = await pathInside(environment, named, user)
  const owner = user === undefined ? null : await insideUser(environment, user)
  const { files } = environment
  await files.write(path, content, {
    makeParents: true,
    signal,
    xattrs: xattrsOf(metadata),
    ...(owner && { uid: owner.uid, gid: owner.gid }),
  })
  return { name: posix.basename(path), type: 'file', path, ...shownMetadata(metadata) }
}

function tooMany(): InvalidInputError {
  return new InvalidInputError(`the form has more than ${mostFiles} files`, {
    remedy: 'send them in several forms',
  })
}
