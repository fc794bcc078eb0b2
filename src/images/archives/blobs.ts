import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { InvalidInputError } from '../../model/errors.ts'
import { quote } from '../../model/text/quote.ts'

/** A part of a file: all of a blob in a directory, or a member of an archive. */
export interface Blob {
  readonly path: string
  readonly start: number
  readonly size: number
}

/** Files of an image by name; undefined: there is no such file. */
export interface ImageFiles {
  /** for messages */
  readonly where: string
  find(name: string): Promise<Blob | undefined>
}

/** Manifests and configurations have some kilobytes. */
const longestText = 8 * 1024 ** 2

/** A file that somebody else may have put there: no device, and no pipe to wait for. */
export async function openBlob(path: string) {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  const info = await file.stat()
  if (info.isFile()) return { file, size: info.size }
  await file.close()
  throw badImage(path, 'it is not a regular file')
}

/** Its text, which must be short. */
export async function readBlob({ path, start, size }: Blob): Promise<Buffer> {
  if (size > longestText) throw badImage(path, `a description in it has ${size} bytes`)
  const { file } = await openBlob(path)
  await using _closed = { [Symbol.asyncDispose]: () => file.close() }
  const { buffer, bytesRead } = await file.read(Buffer.alloc(size), 0, size, start)
  if (bytesRead !== size) throw badImage(path, 'it ends early')
  return buffer
}

/** Closes the file when it ends. */
export async function streamBlob({ path, start, size }: Blob): Promise<Readable> {
  if (size === 0) return Readable.from([])
  const { file } = await openBlob(path)
  return file.createReadStream({ start, end: start + size - 1 })
}

export function badImage(where: string, why: string, cause?: unknown): InvalidInputError {
  return new InvalidInputError(`${quote(where)} is not an image that can be used: ${why}`, {
    remedy: 'write it again with `skopeo copy`, `podman save` or `docker save`',
    cause,
  })
}
