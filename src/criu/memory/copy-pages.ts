import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import type { Copy } from '../images/memory/own-pages.ts'
import { extend, pagesMode } from './pages-files.ts'

export interface PagesSources {
  /** the process's own pages-N.img */
  readonly image: string
  /** directory of the older pages files */
  readonly pages: string
  /** their names, by number */
  readonly known: ReadonlyMap<number, string>
}

const pieceBytes = 4 * 1024 ** 2

/** Writes one pages file from parts of several, with holes where there are only zeros. */
export async function copyPages(
  path: string,
  copies: readonly Copy[],
  sources: PagesSources,
): Promise<void> {
  const opened = new Map<string, FileHandle>()
  const target = await open(path, 'wx', pagesMode & 0o777)
  try {
    let at = 0
    for (const { from, length } of copies) {
      const source = sourceOf(from, sources)
      const handle = opened.get(source) ?? (await open(source))
      opened.set(source, handle)
      await copyRange(handle, from.offset, target, at, length)
      at += length
    }
    await extend(path, at)
  } finally {
    await Promise.all([target, ...opened.values()].map((handle) => handle.close()))
  }
}

function sourceOf(from: Copy['from'], { image, pages, known }: PagesSources): string {
  if (from.kind === 'page') return image
  const name = known.get(from.fileId)
  if (name === undefined) throw new RangeError(`file ${from.fileId} has no pages`)
  return join(pages, name)
}

const zeros = Buffer.alloc(pieceBytes)

export async function copyRange(
  source: FileHandle,
  offset: number,
  target: FileHandle,
  at: number,
  length: number,
): Promise<void> {
  const buffer = Buffer.allocUnsafe(Math.min(length, pieceBytes))
  for (let done = 0; done < length; ) {
    const wanted = Math.min(length - done, pieceBytes)
    const { bytesRead } = await source.read(buffer, 0, wanted, offset + done)
    // A mapping that grew shows zeros beyond the end of its file.
    if (bytesRead === 0) return
    const piece = buffer.subarray(0, bytesRead)
    if (!piece.equals(zeros.subarray(0, bytesRead))) await writeAll(target, piece, at + done)
    done += bytesRead
  }
}

async function writeAll(target: FileHandle, bytes: Buffer, at: number): Promise<void> {
  for (let done = 0; done < bytes.length; ) {
    const { bytesWritten } = await target.write(bytes, done, bytes.length - done, at + done)
    done += bytesWritten
  }
}
