import { closeSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as immediately } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import { pathExists } from '../linux/path-exists.ts'
import { readdir, readFile, rename, stat, writeFile } from '../linux/quick-fs.ts'
import { BackendError } from '../model/errors.ts'
import { copiedFiles } from './image-variants.ts'
import { listFiles } from './memory/pages-files.ts'

/**
 * What a snapshot's images were when they were flushed, and the pages they map. By name in `images`, or
 * by path from the snapshot.
 */
type Manifest = Record<string, ImageCheck | PagesCheck>

interface ImageCheck {
  readonly bytes: number
  readonly crc32: number
}

/** Too large to be read each time. */
interface PagesCheck {
  readonly bytes: number
  /** taken on disk */
  readonly taken: number
}

const pagesPlace = 'pages'

const manifestName = 'manifest.json'

/** Checking more than this on every restore would cost more than the restore: only its size is. */
const mostCheckedBytes = 32 * 1024 ** 2

/** Written when the images are complete; a snapshot killed before has none, and is checked by CRIU. */
export async function writeManifest(snapshot: string): Promise<void> {
  const manifest: Manifest = {}
  const copied = (await pathExists(join(snapshot, copiedFiles))) ? [copiedFiles] : []
  for (const name of [...(await imagesIn(join(snapshot, 'images'))), ...copied]) {
    const path = pathOf(snapshot, name)
    const { size } = await stat(path)
    manifest[name] = { bytes: size, crc32: size > mostCheckedBytes ? 0 : await checksum(path) }
  }
  for (const { name, size, bytes } of listFiles(join(snapshot, pagesPlace))) {
    manifest[join(pagesPlace, name)] = { bytes: size, taken: bytes }
  }
  const draft = join(snapshot, `${manifestName}.new`)
  await writeFile(draft, JSON.stringify(manifest), { flush: true })
  await rename(draft, join(snapshot, manifestName))
}

function pathOf(snapshot: string, name: string): string {
  return name.includes('/') ? join(snapshot, name) : join(snapshot, 'images', name)
}

const underWay = new Map<string, Promise<void>>()

/**
 * Refuses images that are not what they were: CRIU would fail half-way, or not notice. Forks that
 * are made at the same time share one look.
 */
export function verifyManifest(snapshot: string): Promise<void> {
  const known = underWay.get(snapshot)
  if (known) return known
  const started = verify(snapshot).finally(() => underWay.delete(snapshot))
  underWay.set(snapshot, started)
  return started
}

async function verify(snapshot: string): Promise<void> {
  const text = await readFile(join(snapshot, manifestName), 'utf8').catch(() => null)
  if (text === null) return
  const checks = Object.entries(JSON.parse(text) as Manifest).map(async ([name, expected]) => {
    const path = pathOf(snapshot, name)
    const isSame = await ('taken' in expected
      ? isSamePages(path, expected)
      : isSameImage(path, expected))
    return isSame ? [] : [name]
  })
  const damaged = (await Promise.all(checks)).flat()
  if (damaged.length === 0) return
  throw new BackendError(`the snapshot is damaged: ${damaged.join(', ')} changed on disk`, {
    remedy:
      'use another snapshot; check the disk, then remove this one with `forkpoint rm-snapshot`',
    detail: { damaged },
  })
}

async function isSameImage(path: string, expected: ImageCheck): Promise<boolean> {
  const { size } = await stat(path).catch(() => ({ size: -1 }))
  if (size !== expected.bytes) return false
  return size > mostCheckedBytes || (await checksum(path)) === expected.crc32
}

/** A file system may take more for the same content later, but not less. */
async function isSamePages(path: string, expected: PagesCheck): Promise<boolean> {
  const { size, blocks } = await stat(path).catch(() => ({ size: -1, blocks: 0 }))
  return size === expected.bytes && blocks * 512 >= expected.taken
}

async function imagesIn(dir: string): Promise<string[]> {
  const names = await readdir(dir).catch(() => [])
  return names.filter((name) => name.endsWith('.img'))
}

/** Chunks of one size: buffers of their own for each file would keep the garbage collector busy. */
const chunk = Buffer.allocUnsafe(256 * 1024)

async function checksum(path: string): Promise<number> {
  const file = openSync(path, 'r')
  try {
    let sum = 0
    for (let read = 0; ; ) {
      read = readSync(file, chunk)
      if (read === 0) return sum
      sum = crc32(chunk.subarray(0, read), sum)
      // Others have their turn between the chunks of a large one.
      if (read === chunk.length) await immediately()
    }
  } finally {
    closeSync(file)
  }
}
