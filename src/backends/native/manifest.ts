import { createReadStream } from 'node:fs'
import { readdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { BackendError } from '../../model/errors.ts'

/** What a snapshot's images were when they were flushed. */
type Manifest = Record<string, { readonly bytes: number; readonly crc32: number }>

const manifestName = 'manifest.json'

/** Checking more than this on every restore would cost more than the restore: only its size is. */
const mostCheckedBytes = 32 * 1024 ** 2

/** Written when the images are complete; a snapshot killed before has none, and is checked by CRIU. */
export async function writeManifest(snapshot: string): Promise<void> {
  const images = join(snapshot, 'images')
  const manifest: Manifest = {}
  for (const name of await imagesIn(images)) {
    const path = join(images, name)
    manifest[name] = { bytes: (await stat(path)).size, crc32: await checksum(path) }
  }
  const draft = join(snapshot, `${manifestName}.new`)
  await writeFile(draft, JSON.stringify(manifest))
  await rename(draft, join(snapshot, manifestName))
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
    const path = join(snapshot, 'images', name)
    const { size } = await stat(path).catch(() => ({ size: -1 }))
    const isSame =
      size === expected.bytes &&
      (size > mostCheckedBytes || (await checksum(path)) === expected.crc32)
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

async function imagesIn(dir: string): Promise<string[]> {
  const names = await readdir(dir).catch(() => [])
  return names.filter((name) => name.endsWith('.img'))
}

async function checksum(path: string): Promise<number> {
  let sum = 0
  for await (const chunk of createReadStream(path, { highWaterMark: 1024 ** 2 })) {
    sum = crc32(chunk as Buffer, sum)
  }
  return sum
}
