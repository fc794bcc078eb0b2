import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { rename, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import { text } from 'node:stream/consumers'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { pathExists } from '../../linux/files/path-exists.ts'
import { removeTree } from '../../linux/files/remove-tree.ts'
import { killPoint } from '../../linux/kill-points.ts'
import { nativeProgram } from '../../linux/native-program.ts'
import { ResourceError } from '../../model/errors.ts'
import { quote } from '../../model/text/quote.ts'
import { makeDraft, partOf } from '../cache.ts'
import type { ImageLayer } from '../image-layer.ts'
import type { ImageStore } from '../image-store.ts'
import { badImage, readBlob, streamBlob } from './blobs.ts'
import type { DescribedImage, DescribedLayer } from './description.ts'

/** One layer takes at most this part of the free space: a small archive can hold a lot of zeros. */
const mostOfFreeSpace = 1 / 2

/** Unpacks the layers that are missing; returns all, topmost first. */
export async function unpackLayers(
  store: ImageStore,
  image: DescribedImage,
  signal: AbortSignal | undefined,
): Promise<ImageLayer[]> {
  const dir = partOf(store.places, 'layers')
  for (const layer of image.layers) {
    signal?.throwIfAborted()
    const path = join(dir, layer.hex)
    if (!(await pathExists(path))) await unpackOne(store, image, layer, path, signal)
  }
  return image.layers.map(({ hex }) => ({ path: join(dir, hex), ids: 'host' as const })).reverse()
}

async function unpackOne(
  { tools, places }: ImageStore,
  image: DescribedImage,
  layer: DescribedLayer,
  path: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  const draft = await makeDraft(places)
  killPoint('image:drafted')
  try {
    const digest = await unpackInto(draft, image, layer, signal)
    killPoint('image:unpacked')
    if (digest !== layer.hex) throw badImage(image.where, 'a layer does not match its digest')
    await rename(draft, path)
  } catch (error) {
    await removeTree(tools, draft)
    // Another process may have unpacked the same layer in the meantime.
    if (!(await pathExists(path))) throw error
  }
}

/** Returns the digest of what was unpacked. `cell unpack` stays in the directory, whatever the archive says. */
async function unpackInto(
  dir: string,
  { where }: DescribedImage,
  { blob }: DescribedLayer,
  signal: AbortSignal | undefined,
): Promise<string> {
  const { bavail, bsize } = await statfs(dir)
  const most = Math.floor(bavail * bsize * mostOfFreeSpace)
  const hash = createHash('sha256')
  const counted = new Transform({
    transform: (chunk, _encoding, done) => {
      hash.update(chunk)
      done(null, chunk)
    },
  })
  const child = spawn(nativeProgram('cell'), ['unpack', dir, String(most)], { stdio: 'pipe' })
  const ended = Promise.withResolvers<number | null>()
  child.once('close', ended.resolve)
  child.once('error', ended.reject)
  child.stdout.resume()
  const [fed, words, exitCode] = await Promise.all([
    pipeline([await streamBlob(blob), ...(await decompression(blob)), counted, child.stdin], {
      ...(signal && { signal }),
    }).then(
      () => null,
      (error: unknown) => error,
    ),
    text(child.stderr),
    ended.promise,
  ])
  signal?.throwIfAborted()
  if (exitCode !== 0) throw refusal(where, words.trim(), fed)
  if (fed !== null) throw badImage(where, 'a layer cannot be decompressed', fed)
  return hash.digest('hex')
}

function refusal(where: string, words: string, cause: unknown): Error {
  if (!words.includes('No space left on device')) {
    return badImage(where, words || 'it could not be unpacked', cause)
  }
  return new ResourceError(`there is no room to unpack ${quote(where)}: ${words}`, {
    remedy:
      'free some space; `forkpoint usage` shows what takes it, and `prune` removes what is unused',
    cause,
  })
}

/** By the first bytes: the names of media types differ from tool to tool. */
async function decompression(blob: DescribedLayer['blob']) {
  const magic = await readBlob({ ...blob, size: Math.min(4, blob.size) })
  if (magic.subarray(0, 2).toString('hex') === '1f8b') return [createGunzip()]
  return magic.toString('hex') === '28b52ffd' ? [createZstdDecompress()] : []
}
