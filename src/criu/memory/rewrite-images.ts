import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { rename, writeFile } from '../../linux/quick-fs.ts'
import type { ByteRange, MemoryImages } from '../images/memory/pages.ts'
import { mountAt } from '../images/mounts.ts'
import { mmImage } from './dumped-processes.ts'

/** The content of an image, whole or not at all; other names of the old one keep theirs. */
export async function replaceImage(path: string, content: Buffer): Promise<void> {
  await writeFile(`${path}.new`, content)
  await rename(`${path}.new`, path)
}

export async function replaceMemoryImages(
  images: string,
  pid: number,
  { mm, pagemap }: MemoryImages,
): Promise<void> {
  await Promise.all([
    replaceImage(mmImage(images, pid), mm),
    replaceImage(join(images, `pagemap-${pid}.img`), pagemap),
  ])
}

/**
 * These bytes of a file, one after the other. They are hundreds of small ranges in the page cache: a
 * call takes 2 µs, and the way through the thread pool 50 (measured).
 */
export function readRanges(path: string, ranges: readonly ByteRange[]): Buffer {
  const bytes = Buffer.allocUnsafe(ranges.reduce((sum, { length }) => sum + length, 0))
  const fd = openSync(path, 'r')
  try {
    let at = 0
    for (const { offset, length } of ranges) {
      if (readSync(fd, bytes, at, length, offset) !== length)
        throw new Error(`${path} is too short`)
      at += length
    }
    return bytes
  } finally {
    closeSync(fd)
  }
}

/** The number of a mount by its place inside. */
export function mountOf(images: string, place: string): number | undefined {
  const name = readdirSync(images).find((image) => image.startsWith('mountpoints-'))
  return name === undefined ? undefined : mountAt(readFileSync(join(images, name)), place)
}

export function readFdinfos(images: string): Buffer[] {
  const names = readdirSync(images).filter((name) => name.startsWith('fdinfo-'))
  return names.map((name) => readFileSync(join(images, name)))
}
