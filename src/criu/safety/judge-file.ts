import { type Elf, MalformedElf, type ReadRange, readElf, withinFile } from './elf.ts'
import { findInlineCall } from './inline-calls.ts'
import { type KnownSafe, knownAs } from './known-safe.ts'
import { allocatorMarkers, goCalls, goWithC } from './markers.ts'
import { findAll } from './scan.ts'

/** Whether code of a file may run in memory that reads as old bytes where it was given back. */
export interface FileVerdict {
  readonly safe: boolean
  readonly why: string
  /** it was not decided, and may be at another time */
  readonly isForNow?: true
}

/** Two verdicts under different rules are different verdicts; raise it with every change. */
export const rulesVersion = 2

/** the largest program seen, Chromium, has 280 MB; a hole in a file takes as long to search as bytes */
const largestSearch = 320 * 1024 * 1024

/** What gives memory back, or lets it grow: either reads as zeros, and of a file as its bytes. */
const telltaleImports = ['madvise', '__madvise', 'process_madvise', 'mremap', '__mremap']

/** The first may be left out by options of the linker. */
const goSections = ['.go.buildinfo', '.gopclntab']

/** `name` is the last part of its path, which alone makes nothing safe. */
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

/** The runtime keeps its own account of what has to be cleared; C code beside it may not. */
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
  const needles = [...Object.keys(allocatorMarkers), ...known.marks]
  const found = await findAll(needles, elf.constants, read)
  const marker = markerAmong(found)
  if (marker) return marker
  if (known.marks.some((mark) => found.has(mark))) return { safe: true, why: known.what }
  return await judgeUnknown(elf, read)
}

async function judgeUnknown(elf: Elf, read: ReadRange): Promise<FileVerdict> {
  if (elf.linkage === 'static') return unsafe('statically linked and not Go')
  const telltale = telltaleOf(elf)
  if (telltale) return telltale
  const marker = markerAmong(await findAll(Object.keys(allocatorMarkers), elf.constants, read))
  if (marker) return marker
  // An import of `syscall` says nothing: Rust's standard library has it, for other calls.
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
