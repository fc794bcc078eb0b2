import { type Elf, MalformedElf, type ReadRange, readElf, withinFile } from './elf.ts'
import { findInlineCall } from './inline-calls.ts'
import { type KnownSafe, knownAs } from './known-safe.ts'
import { allocatorMarkers, goCalls, goWithC } from './markers.ts'
import type { Reach } from './reach.ts'
import { findAll } from './scan.ts'

/** Whether the code in a file still works if memory that it freed reads as old bytes, not as zeros. */
export interface FileVerdict {
  readonly safe: boolean
  readonly why: string
  /** the only memory in which it is not safe; absent: none */
  readonly reach?: Reach
  /** it could not be decided now, but perhaps later */
  readonly isForNow?: true
}

/** Verdicts under other rules do not count; raise it with every change to the rules. */
export const rulesVersion = 3

/** the largest program seen, Chromium, has 280 MB; holes take as long to search as data */
const largestSearch = 320 * 1024 * 1024

/** Calls that free memory or let it grow. Either then reads as zeros, or in a file mapping as its bytes. */
const telltaleImports = ['madvise', '__madvise', 'process_madvise', 'mremap', '__mremap']

/** Linker options may leave out the first. */
const goSections = ['.go.buildinfo', '.gopclntab']

/** `name` is the last part of its path. A name alone never makes a file safe. */
export async function judgeFile(name: string, size: number, file: ReadRange): Promise<FileVerdict> {
  const read = withinFile(size, file)
  try {
    const elf = await readElf(size, read)
    if (searchLength(elf) > largestSearch) return unsafe('too large to judge')
    if (goSections.some((section) => elf.sections.has(section))) return await judgeGo(elf, read)
    const known = knownAs(name)
    if (known !== null) return await judgeKnown(known, elf, read)
    return await judgeUnknown(elf, read)
  } catch (error) {
    if (error instanceof MalformedElf) return unsafe(error.message)
    throw error
  }
}

/** Go's runtime keeps track of what it has to clear; C code in the same program may not. */
async function judgeGo(elf: Elf, read: ReadRange): Promise<FileVerdict> {
  const telltale = telltaleOf(elf)
  if (telltale) return telltale
  const needles = [...Object.keys(allocatorMarkers), ...Object.keys(goCalls), goWithC]
  const found = await findAll(needles, elf.constants, read)
  const marker = markerAmong(found)
  if (marker) return marker
  const call = Object.entries(goCalls).find(([name]) => found.has(name))
  if (call) return unsafe(call[1])
  if (elf.linkage === 'static' && found.has(goWithC)) return unsafe('Go with C linked statically')
  return { safe: true, why: 'Go' }
}

async function judgeKnown(known: KnownSafe, elf: Elf, read: ReadRange): Promise<FileVerdict> {
  const { what, marks, reach } = known
  const needles = [...Object.keys(allocatorMarkers), ...marks, ...(reach?.marks ?? [])]
  const found = await findAll(needles, elf.constants, read)
  const marker = markerAmong(found)
  if (marker) return marker
  const hasOneOf = (some: readonly string[]) => some.some((mark) => found.has(mark))
  if (!hasOneOf(marks)) return await judgeUnknown(elf, read)
  const isReaching = reach !== undefined && (reach.marks === undefined || hasOneOf(reach.marks))
  return { safe: true, why: what, ...(isReaching && { reach: reach.what }) }
}

async function judgeUnknown(elf: Elf, read: ReadRange): Promise<FileVerdict> {
  if (elf.linkage === 'static') return unsafe('statically linked and not Go')
  const telltale = telltaleOf(elf)
  if (telltale) return telltale
  const marker = markerAmong(await findAll(Object.keys(allocatorMarkers), elf.constants, read))
  if (marker) return marker
  // An import of `syscall` means nothing: Rust's standard library has it, for other calls.
  const call = await findInlineCall(elf.code, read)
  if (call !== null) return unsafe(`calls ${call} without the C library`)
  return { safe: true, why: 'never calls madvise' }
}

function searchLength({ constants, code }: Elf): number {
  return [...constants, ...code].reduce((sum, { length }) => sum + length, 0)
}

function telltaleOf({ imports, defines }: Elf): FileVerdict | null {
  const imported = telltaleImports.find((name) => imports.has(name))
  if (imported !== undefined) return unsafe(`imports ${imported}`)
  const defined = telltaleImports.find((name) => defines.has(name))
  return defined === undefined ? null : unsafe(`has a ${defined} of its own`)
}

function markerAmong(found: ReadonlySet<string>): FileVerdict | null {
  const marker = Object.entries(allocatorMarkers).find(([needle]) => found.has(needle))
  return marker ? unsafe(`${marker[1]} marker`) : null
}

function unsafe(why: string): FileVerdict {
  return { safe: false, why }
}
