import { closeSync, existsSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import type { DumpImages } from '../images/dump-images.ts'
import { type Level, placesIn } from '../images/memory/levels.ts'
import { type Older, olderContents } from '../images/memory/older.ts'
import { decodePagemap } from '../images/memory/pagemap.ts'
import type { Addresses } from '../images/memory/pages.ts'
import { lengthOf, rangeWith } from '../images/memory/ranges.ts'
import { levelsOf, parentName } from '../tracking/parents.ts'
import { type DumpedProcess, pagesImage } from './dumped-processes.ts'
import { knownPages } from './needed-pages.ts'

/** Pages of a process, and the part of a file that has them. */
export type PlacedPages = Addresses & Place

interface Place {
  readonly path: string
  readonly offset: number
}

/** All memory of a dumped process, wherever its pages are. Read synchronously: it is in the page cache. */
export class AllPages implements Disposable {
  /** whether every page was found */
  readonly isComplete: boolean
  readonly bytes: number
  readonly #pages: readonly PlacedPages[]
  readonly #opened = new Map<string, number>()

  /** `pages` in any order; `bytes` is how many there should be. */
  constructor(pages: readonly PlacedPages[], bytes: number) {
    this.#pages = pages.toSorted((a, b) => a.start - b.start)
    this.bytes = lengthOf(this.#pages)
    this.isComplete = this.bytes === bytes
  }

  /** Which there are, in order. */
  get ranges(): readonly Addresses[] {
    return this.#pages
  }

  /** In order of addresses, in pieces of at most `most` bytes. */
  *pieces(most: number): Generator<PlacedPages> {
    for (const { start, end, path, offset } of this.#pages) {
      for (let at = start; at < end; at += most) {
        yield { start: at, end: Math.min(at + most, end), path, offset: offset + at - start }
      }
    }
  }

  /** Beyond the end of its file, memory is zero. */
  readInto(target: Buffer, { path, offset }: Place): void {
    const fd = this.#opened.get(path) ?? openSync(path, 'r')
    this.#opened.set(path, fd)
    let done = 0
    while (done < target.length) {
      const length = readSync(fd, target, done, target.length - done, offset + done)
      if (length === 0) break
      done += length
    }
    target.fill(0, done)
  }

  /** Eight bytes as a number, exact if it is an address; 0 if there is no such page. */
  wordAt(address: number): number {
    const page = rangeWith(this.#pages, address)
    if (!page) return 0
    const word = Buffer.alloc(8)
    this.readInto(word, { path: page.path, offset: page.offset + address - page.start })
    return word.readUInt32LE(4) * 2 ** 32 + word.readUInt32LE(0)
  }

  [Symbol.dispose](): void {
    for (const fd of this.#opened.values()) closeSync(fd)
  }
}

/**
 * The pages of a process in complete images: in the dump, in one before it, or in files that the process maps,
 * which lie in one of `directories`.
 */
export function pagesOf(
  images: DumpImages,
  process: DumpedProcess,
  directories: readonly string[],
): AllPages {
  const older = olderContents(process, knownPages(images.files))
  const pages = placedIn(older, levelsIn(images, process), directories)
  return new AllPages(pages, lengthOf(older))
}

/** The files that have these pages; `levels` are those that a pagemap leads to. */
export function placedIn(
  older: readonly Older[],
  levels: readonly Level[],
  directories: readonly string[],
): PlacedPages[] {
  const paged = older.filter(({ from }) => from.kind === 'pages')
  const placed = placesIn(levels, paged).map(({ start, end, from: { path, offset } }) => {
    return { start, end, path, offset }
  })
  const others = older.flatMap(({ start, end, from }): PlacedPages[] => {
    if (from.kind === 'pages') return []
    if (from.kind === 'image') return [{ start, end, path: from.path, offset: from.offset }]
    const directory = directories.find((place) => existsSync(join(place, from.name)))
    if (directory === undefined) return []
    return [{ start, end, path: join(directory, from.name), offset: from.offset }]
  })
  return [...placed, ...others]
}

/** The images say what they will be; on disk is still what CRIU wrote. */
function levelsIn({ directory }: DumpImages, { pid, pagesId, pagemap }: DumpedProcess) {
  const own = { pagemap: decodePagemap(pagemap), pages: join(directory, pagesImage(pagesId)) }
  return [own, ...levelsOf(join(directory, parentName), pid)]
}
