import { randomUUID } from 'node:crypto'
import { closeSync, openSync, readFileSync, readSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as immediately } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import * as z from 'zod/mini'
import { ifExists } from '../linux/files/if-exists.ts'
import { namesIn } from '../linux/files/names-in.ts'
import { pathExists } from '../linux/files/path-exists.ts'
import { rename, stat } from '../linux/files/quick-fs.ts'
import { BackendError } from '../model/errors.ts'
import { copiedFiles } from './image-variants.ts'
import { listFiles } from './memory/pages-files.ts'
import { parentFiles } from './tracking/parents.ts'

/**
 * What a snapshot's images, and the pages they map, looked like when they were flushed. The keys are
 * names in `images`, or paths from the snapshot.
 */
type Manifest = Record<string, ImageCheck | PagesCheck>

interface ImageCheck {
  readonly bytes: number
  readonly crc32: number
}

/** Pages files are too large to read each time. */
interface PagesCheck {
  readonly bytes: number
  /** bytes it takes on disk */
  readonly taken: number
}

const manifestSchema: z.ZodMiniType<Manifest> = z.record(
  z.string(),
  z.union([
    z.object({ bytes: z.number(), crc32: z.number() }),
    z.object({ bytes: z.number(), taken: z.number() }),
  ]),
)

const pagesPlace = 'pages'
const imagesPlace = 'images'

const manifestName = 'manifest.json'

/** Of larger images only the size is checked: a checksum would take longer than the restore. */
const mostCheckedBytes = 32 * 1024 ** 2

/**
 * Written when the images are complete. If we are killed before that, the snapshot has no manifest, and
 * only CRIU checks it.
 */
export async function writeManifest(snapshot: string): Promise<void> {
  const manifest: Manifest = {}
  const copied = (await pathExists(join(snapshot, copiedFiles))) ? [copiedFiles] : []
  for (const name of [...imagesIn(join(snapshot, 'images')), ...copied]) {
    const path = pathOf(snapshot, name)
    const { size } = await stat(path)
    manifest[name] = { bytes: size, crc32: size > mostCheckedBytes ? 0 : await checksum(path) }
  }
  for (const { name, size, bytes } of listFiles(join(snapshot, pagesPlace))) {
    manifest[join(pagesPlace, name)] = { bytes: size, taken: bytes }
  }
  for (const path of parentFiles(join(snapshot, imagesPlace))) {
    const name = join(imagesPlace, path)
    const { size, blocks } = await stat(join(snapshot, name))
    manifest[name] = { bytes: size, taken: blocks * 512 }
  }
  await replaceManifest(snapshot, manifest)
}

async function replaceManifest(snapshot: string, manifest: Manifest): Promise<void> {
  const draft = join(snapshot, `${manifestName}.${randomUUID()}.new`)
  // Not in this thread: others would wait for the disk.
  await writeFile(draft, JSON.stringify(manifest), { flush: true })
  await rename(draft, join(snapshot, manifestName))
}

/**
 * Notes what these pages files, as paths from the snapshot, take up now that parts of them are freed; with
 * `anything`, that they may take up less from now on.
 */
export async function noteTaken(
  snapshot: string,
  paths: readonly string[],
  taken: 'anything' | 'as it is',
): Promise<void> {
  const text = ifExists(() => readFileSync(join(snapshot, manifestName), 'utf8'))
  if (text === null) return
  const manifest = parseManifest(text)
  for (const path of paths) {
    const expected = manifest[path]
    if (expected === undefined || !('taken' in expected)) continue
    const { blocks } = await stat(join(snapshot, path))
    manifest[path] = { ...expected, taken: taken === 'anything' ? 0 : blocks * 512 }
  }
  await replaceManifest(snapshot, manifest)
}

function pathOf(snapshot: string, name: string): string {
  return name.includes('/') ? join(snapshot, name) : join(snapshot, 'images', name)
}

/** Checks the images of snapshots. Forks made at the same time share one check. */
export interface ManifestChecks {
  /** Refuses images that have changed: CRIU would fail half-way, or not notice. */
  verify(snapshot: string): Promise<void>
}

export function manifestChecks(): ManifestChecks {
  const underWay = new Map<string, Promise<void>>()
  return {
    verify: (snapshot) => {
      const known = underWay.get(snapshot)
      if (known) return known
      const started = verify(snapshot).finally(() => underWay.delete(snapshot))
      underWay.set(snapshot, started)
      return started
    },
  }
}

async function verify(snapshot: string): Promise<void> {
  const text = ifExists(() => readFileSync(join(snapshot, manifestName), 'utf8'))
  if (text === null) return
  const checks = Object.entries(parseManifest(text)).map(async ([name, expected]) => {
    const path = pathOf(snapshot, name)
    const isSame = await ('taken' in expected
      ? isSamePages(path, expected)
      : isSameImage(path, expected))
    return isSame ? [] : [name]
  })
  const damaged = (await Promise.all(checks)).flat()
  if (damaged.length > 0) throw isDamaged(damaged)
}

function parseManifest(text: string): Manifest {
  try {
    return manifestSchema.parse(JSON.parse(text))
  } catch {
    // The manifest is the damaged file; what JSON or zod say about it would not help the user.
    throw isDamaged([manifestName])
  }
}

function isDamaged(damaged: string[]): BackendError {
  return new BackendError(`the snapshot is damaged: ${damaged.join(', ')} changed on disk`, {
    remedy:
      'use another snapshot; check the disk, then remove this one with `forkpoint rm-snapshot`',
    permanent: true,
    detail: { damaged },
  })
}

/** A file that cannot be read counts as changed. */
async function isSameImage(path: string, expected: ImageCheck): Promise<boolean> {
  const { size } = await stat(path).catch(() => ({ size: -1 }))
  if (size !== expected.bytes) return false
  return size > mostCheckedBytes || (await checksum(path)) === expected.crc32
}

/** A file system may later take more space for the same content, but not less. */
async function isSamePages(path: string, expected: PagesCheck): Promise<boolean> {
  const { size, blocks } = await stat(path).catch(() => ({ size: -1, blocks: 0 }))
  return size === expected.bytes && blocks * 512 >= expected.taken
}

function imagesIn(dir: string): string[] {
  return namesIn(dir).filter((name) => name.endsWith('.img'))
}

/**
 * One buffer for all files: a new one for each would keep the garbage collector busy. Nothing in it is
 * kept across an await.
 */
const chunk = Buffer.allocUnsafe(256 * 1024)

async function checksum(path: string): Promise<number> {
  const file = openSync(path, 'r')
  try {
    let sum = 0
    for (let read = 0; ; ) {
      read = readSync(file, chunk)
      if (read === 0) return sum
      sum = crc32(chunk.subarray(0, read), sum)
      // Let other work run between the chunks of a large file.
      if (read === chunk.length) await immediately()
    }
  } finally {
    closeSync(file)
  }
}
