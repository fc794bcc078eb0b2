import { expect } from 'vitest'
import { decodeAreas } from '../../../../src/criu/images/memory/areas.ts'
import { describeMemory } from '../../../../src/criu/images/memory/describe.ts'
import type { ByteRange, MemoryImages } from '../../../../src/criu/images/memory/pages.ts'
import { type Layout, mmOf, type PagemapStyle, page, pagemapOf } from './layouts.ts'

/** The pages of a file, each as a word that stands for its bytes. */
type Pages = readonly string[]

/** A process as CRIU would restore it, from its images and the files that they mention. */
export class SimulatedProcess {
  /** pages files by their numbers in files.img */
  readonly files = new Map<number, Pages>()
  images: MemoryImages
  /** the dump's own pages file */
  pages: Pages

  constructor(layout: Layout, style: PagemapStyle) {
    this.images = { mm: mmOf(layout), pagemap: pagemapOf(layout.present, style) }
    this.pages = [...layout.present].sort((a, b) => a - b).map((at) => `first ${at}`)
  }

  /** The bytes at every address, a word for each page. */
  contents(): Map<number, string> {
    const contents = new Map<number, string>()
    for (const { start, end, source } of describeMemory(this.images)) {
      for (let at = start; at < end; at += page) {
        if (source.kind === 'page') contents.set(at, this.#own(source.offset + at - start))
        else if (source.kind === 'file')
          contents.set(at, this.fileAt(source.fileId, source.offset + at - start))
        else contents.set(at, source.kind)
      }
    }
    return contents
  }

  #own(offset: number): string {
    return this.pages[offset / page] ?? 'beyond the end of the dump'
  }

  fileAt(fileId: number, offset: number): string {
    const pages = this.files.get(fileId)
    if (pages === undefined) return `file ${fileId} at ${offset}`
    return pages[offset / page] ?? 'beyond the end of a pages file'
  }

  rangeOf({ offset, length }: ByteRange): string[] {
    return Array.from({ length: length / page }, (_, at) => this.#own(offset + at * page))
  }

  /** It is restored, writes to some pages, and is dumped again: its own pages are in the dump. */
  runAndDump(dirty: ReadonlySet<number>, style: PagemapStyle): void {
    const before = this.contents()
    const own = describeMemory(this.images).filter(({ source }) => source.kind === 'page')
    const present = new Set(dirty)
    for (const { start, end } of own) for (let at = start; at < end; at += page) present.add(at)
    this.pages = [...present]
      .sort((a, b) => a - b)
      .map((at) => (dirty.has(at) ? `written ${at} ${this.files.size}` : (before.get(at) ?? '')))
    this.images = { mm: this.images.mm, pagemap: pagemapOf(present, style) }
  }

  /** Addresses of pages that it can write without others seeing it. */
  writable(): number[] {
    return this.areas()
      .filter(({ status, prot }) => (status & (64 | 512)) !== 0 && prot === 3)
      .flatMap(({ start, end }) =>
        Array.from({ length: (end - start) / page }, (_, at) => start + at * page),
      )
  }

  areas() {
    return decodeAreas(this.images.mm).areas
  }
}

/** What must not change in an area when its backing changes, for each of its pages. */
function rightsOf(process: SimulatedProcess): Map<number, string> {
  const rights = new Map<number, string>()
  for (const { start, end, prot, flags, madv } of process.areas()) {
    const words = `${prot} ${flags & ~0x20} ${madv}`
    for (let at = start; at < end; at += page) rights.set(at, words)
  }
  return rights
}

/** Whatever `surgery` does, the process may not notice. */
export function expectUnnoticed(process: SimulatedProcess, surgery: () => void): void {
  const before = { contents: process.contents(), rights: rightsOf(process) }
  surgery()
  expect(process.contents()).toEqual(before.contents)
  expect(rightsOf(process)).toEqual(before.rights)
  let last = 0
  for (const { start, end } of process.areas()) {
    expect(start).toBeGreaterThanOrEqual(last)
    expect(end).toBeGreaterThan(start)
    expect(start % page).toBe(0)
    last = end
  }
}
