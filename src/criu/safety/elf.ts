// The parts of a little-endian ELF64 file that a verdict needs. Every number in the file may be a
// lie: offsets and sizes are checked against the file, and against our own bounds, before a read.

export interface Range {
  readonly offset: number
  readonly length: number
}

/** Returns all bytes of a range, or throws. */
export type ReadRange = (range: Range) => Promise<Buffer>

export interface Elf {
  readonly linkage: 'static' | 'dynamic'
  /** dynamic symbols that others define */
  readonly imports: ReadonlySet<string>
  /** dynamic symbols that this file defines */
  readonly defines: ReadonlySet<string>
  readonly sections: ReadonlySet<string>
  /** what is mapped read-only; the code, if nothing else holds constants */
  readonly constants: readonly Range[]
  readonly code: readonly Range[]
}

export class MalformedElf extends Error {}

interface Segment extends Range {
  readonly type: number
  readonly flags: number
}

interface Section extends Range {
  readonly name: number
  readonly type: number
  readonly link: number
  readonly entrySize: number
}

const headerSize = 64
const segmentSize = 56
const sectionSize = 64
const symbolSize = 24
const mostSegments = 1024
const mostSections = 16_384
/** the largest seen is libLLVM's string table, with 3 MiB */
const largestTable = 16 * 1024 * 1024
/** longer names do not matter here, and a table full of them would cost time and memory */
const longestName = 64
const largestNumber = 2 ** 52

const machines = [62, 183]
const executableType = 2
const sharedType = 3
const loadSegment = 1
const dynamicSegment = 2
const interpreterSegment = 3
const executable = 1
const writable = 2
const stringSection = 3
const dynamicSymbolSection = 11

export async function readElf(size: number, file: ReadRange): Promise<Elf> {
  const header = await file({ offset: 0, length: headerSize })
  checkHeader(header)
  const segments = await readSegments(header, file)
  const sections = await readSections(header, file)
  const names = sections[header.readUInt16LE(62)]
  const sectionNames = names ? await file(table(names)) : Buffer.alloc(0)
  const symbols = await readSymbols(sections, file)
  return {
    linkage: await linkageOf(header, segments, symbols, file),
    ...symbols,
    sections: new Set(names ? sections.map(({ name }) => text(sectionNames, name)) : []),
    ...mappedParts(segments, size),
  }
}

/** Refuses ranges beyond the end before it allocates anything for them. */
export function withinFile(size: number, read: ReadRange): ReadRange {
  return async (range) => {
    if (range.offset + range.length > size) throw new MalformedElf('points beyond its end')
    const bytes = await read(range)
    if (bytes.length < range.length) throw new MalformedElf('ends early')
    return bytes
  }
}

function checkHeader(header: Buffer): void {
  if (header.readUInt32BE(0) !== 0x7f454c46) throw new MalformedElf('not an ELF file')
  const isSupported = header[4] === 2 && header[5] === 1
  if (!isSupported) throw new MalformedElf('not a 64-bit little-endian ELF file')
  if (!machines.includes(header.readUInt16LE(18))) throw new MalformedElf('for another machine')
  if (![executableType, sharedType].includes(header.readUInt16LE(16))) {
    throw new MalformedElf('neither a program nor a library')
  }
}

async function readSegments(header: Buffer, file: ReadRange): Promise<Segment[]> {
  const count = header.readUInt16LE(56)
  if (header.readUInt16LE(54) !== segmentSize || count === 0 || count > mostSegments) {
    throw new MalformedElf('has a strange program header table')
  }
  const bytes = await file({ offset: number(header, 32), length: count * segmentSize })
  return Array.from({ length: count }, (_, i) => segmentAt(bytes, i * segmentSize))
}

function segmentAt(bytes: Buffer, at: number): Segment {
  return {
    type: bytes.readUInt32LE(at),
    flags: bytes.readUInt32LE(at + 4),
    offset: number(bytes, at + 8),
    length: number(bytes, at + 32),
  }
}

async function readSections(header: Buffer, file: ReadRange): Promise<Section[]> {
  const offset = number(header, 40)
  const count = header.readUInt16LE(60)
  if (offset === 0 || count === 0) return []
  if (header.readUInt16LE(58) !== sectionSize || count > mostSections) {
    throw new MalformedElf('has a strange section header table')
  }
  const bytes = await file({ offset, length: count * sectionSize })
  return Array.from({ length: count }, (_, i) => sectionAt(bytes, i * sectionSize))
}

function sectionAt(bytes: Buffer, at: number): Section {
  return {
    name: bytes.readUInt32LE(at),
    type: bytes.readUInt32LE(at + 4),
    offset: number(bytes, at + 24),
    length: number(bytes, at + 32),
    link: bytes.readUInt32LE(at + 40),
    entrySize: number(bytes, at + 56),
  }
}

type Symbols = Pick<Elf, 'imports' | 'defines'>

async function readSymbols(sections: readonly Section[], file: ReadRange): Promise<Symbols> {
  const imports = new Set<string>()
  const defines = new Set<string>()
  const symbols = sections.find(({ type }) => type === dynamicSymbolSection)
  if (symbols === undefined) return { imports, defines }
  const strings = sections[symbols.link]
  if (strings?.type !== stringSection || symbols.entrySize !== symbolSize) {
    throw new MalformedElf('has a strange symbol table')
  }
  const [entries, names] = [await file(table(symbols)), await file(table(strings))]
  for (let at = symbolSize; at + symbolSize <= entries.length; at += symbolSize) {
    const known = entries.readUInt16LE(at + 6) === 0 ? imports : defines
    known.add(text(names, entries.readUInt32LE(at)))
  }
  return { imports, defines }
}

/** A static program may be relocatable; then it has a dynamic segment that needs no library. */
async function linkageOf(
  header: Buffer,
  segments: readonly Segment[],
  { imports, defines }: Symbols,
  file: ReadRange,
): Promise<Elf['linkage']> {
  const dynamic = segments.find(({ type }) => type === dynamicSegment)
  if (dynamic === undefined) return 'static'
  const { needs, flags } = linksOf(await file(table(dynamic)))
  const isProgram = header.readUInt16LE(16) === executableType || (flags & programFlag) !== 0
  const isLoaded = segments.some(({ type }) => type === interpreterSegment)
  if (isProgram && !isLoaded) return 'static'
  if (imports.size > 0) return 'dynamic'
  if (needs > 0 && defines.size === 0) throw new MalformedElf('hides its symbols')
  return needs > 0 || defines.size > 0 ? 'dynamic' : 'static'
}

const neededTag = 1
const flagsTag = 0x6ffffffb
const programFlag = 0x08000000

function linksOf(dynamic: Buffer): { needs: number; flags: number } {
  let [needs, flags] = [0, 0]
  for (let at = 0; at + 16 <= dynamic.length; at += 16) {
    const tag = number(dynamic, at)
    if (tag === 0) break
    if (tag === neededTag) needs += 1
    if (tag === flagsTag) flags = dynamic.readUInt32LE(at + 8)
  }
  return { needs, flags }
}

function mappedParts(segments: readonly Segment[], size: number): Pick<Elf, 'constants' | 'code'> {
  const mapped = segments.filter(({ type, length }) => type === loadSegment && length > 0)
  if (mapped.some(({ offset, length }) => offset + length > size)) {
    throw new MalformedElf('points beyond its end')
  }
  // Otherwise a small file could make us read it a thousand times.
  if (mapped.reduce((sum, { length }) => sum + length, 0) > 2 * size) {
    throw new MalformedElf('maps the same parts again and again')
  }
  const code = mapped.filter(({ flags }) => (flags & executable) !== 0)
  const readOnly = mapped.filter(({ flags }) => (flags & (executable | writable)) === 0)
  return { code, constants: readOnly.length > 0 ? readOnly : code }
}

function table(range: Range): Range {
  if (range.length > largestTable) throw new MalformedElf('has an enormous table')
  return range
}

function number(bytes: Buffer, at: number): number {
  const value = bytes.readBigUInt64LE(at)
  if (value > largestNumber) {
    throw new MalformedElf('has a number out of range')
  }
  return Number(value)
}

function text(strings: Buffer, at: number): string {
  if (at >= strings.length) throw new MalformedElf('points beyond its string table')
  const limit = Math.min(at + longestName, strings.length)
  let end = at
  while (end < limit && strings[end] !== 0) end += 1
  return strings.toString('latin1', at, end)
}
