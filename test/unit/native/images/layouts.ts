import fc from 'fast-check'
import {
  mmEntry,
  pagemapEntry,
  pagemapHead,
  vmaEntry,
} from '../../../../src/criu/images/format/criu-messages.ts'
import { encodeImage } from '../../../../src/criu/images/format/image-file.ts'
import { make } from '../../../../src/criu/images/format/schema.ts'

/** Random address spaces, as CRIU's images describe them. */

export const page = 4096

const mmMagic = Buffer.from('1943565420284957', 'hex')
const pagemapMagic = Buffer.from('1943565425400856', 'hex')

interface Kind {
  readonly status: number
  readonly flags: number
  readonly prot: number
  readonly madv?: number
  readonly fileId?: number
  /** whether its pages are in the dump */
  readonly isPrivate: boolean
  readonly isShareable: boolean
}

const anonymous: Kind = { status: 513, flags: 0x22, prot: 3, isPrivate: true, isShareable: true }
const mapped: Kind = { ...anonymous, status: 65, flags: 2, fileId: 7 }
const leftAlone = { isShareable: false }

export const kinds = {
  anonymous,
  heap: { ...anonymous, status: 545 },
  readOnly: { ...anonymous, prot: 1 },
  generatedCode: { ...anonymous, prot: 7 },
  unreserved: { ...anonymous, flags: 0x4022 },
  huge: { ...anonymous, madv: 1 << 14 },
  undumped: { ...anonymous, madv: (1 << 16) | (1 << 15) },
  data: mapped,
  relocated: { ...mapped, prot: 1, fileId: 8 },
  stack: { ...anonymous, flags: 0x122, ...leftAlone },
  guard: { ...anonymous, prot: 0, ...leftAlone },
  wipedOnFork: { ...anonymous, madv: 1 << 18, ...leftAlone },
  notForked: { ...anonymous, madv: 1 << 10 },
  mergeable: { ...anonymous, madv: (1 << 12) | (1 << 14), ...leftAlone },
  locked: { ...anonymous, flags: 0x2022, ...leftAlone },
  hugePages: { ...anonymous, flags: 0x40022, ...leftAlone },
  writeOnly: { ...anonymous, prot: 2, ...leftAlone },
  sharedFile: { ...mapped, status: 129, flags: 1, isPrivate: false, ...leftAlone },
  sharedMemory: { ...mapped, status: 257, flags: 0x21, isPrivate: false, ...leftAlone },
  vdso: { ...anonymous, status: 521, prot: 5, isPrivate: false, ...leftAlone },
} satisfies Record<string, Kind>

export interface LaidArea {
  readonly kind: Kind
  readonly start: number
  readonly end: number
  readonly pgoff: number
}

/** One process: its areas, and the addresses of the pages in its dump. */
export interface Layout {
  readonly areas: readonly LaidArea[]
  readonly present: ReadonlySet<number>
}

const drawnArea = fc.record({
  kind: fc.constantFrom<Kind>(...Object.values(kinds), anonymous, anonymous, mapped),
  gap: fc.constantFrom(0, 0, 0, 1, 5),
  pages: fc.integer({ min: 1, max: 60 }),
  pgoff: fc.nat({ max: 100 }),
  // Lengths of absent and present runs, alternating.
  turns: fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 12 }),
})

export const layouts: fc.Arbitrary<Layout> = fc
  .array(drawnArea, { minLength: 1, maxLength: 14 })
  .map((drawn) => {
    const areas: LaidArea[] = []
    const present = new Set<number>()
    let at = 0x7f12_3456_7000
    for (const { kind, gap, pages, pgoff, turns } of drawn) {
      const start = at + gap * page
      const end = start + pages * page
      areas.push({ kind, start, end, pgoff: kind.fileId === undefined ? 0 : pgoff * page })
      if (kind.isPrivate) for (const one of presentPages(start, end, turns)) present.add(one)
      at = end
    }
    return { areas, present }
  })

function presentPages(start: number, end: number, turns: readonly number[]): number[] {
  const pages: number[] = []
  let at = start
  for (const [turn, length] of turns.entries()) {
    for (let left = length; left > 0 && at < end; left -= 1) {
      if (turn % 2 === 1) pages.push(at)
      at += page
    }
  }
  return pages
}

/** At the end of every process's address space on x86, at an address that a number cannot hold exactly. */
const vsyscall = { start: 0xffff_ffff_ff60_0000, end: 0xffff_ffff_ff60_1000, status: 516 }

export function mmOf({ areas }: Layout): Buffer {
  const vmas = areas.map(({ kind, start, end, pgoff }) => {
    const { status, flags, prot, madv, fileId = 0 } = kind
    const fdflags = kind.fileId === undefined ? undefined : 0
    const place = { start, end, pgoff, shmid: fileId, fd: -1 }
    return make(vmaEntry, { ...place, prot, flags, status, madv, fdflags })
  })
  const last = make(vmaEntry, { ...vsyscall, pgoff: 0, shmid: 0, prot: 4, flags: 0x22, fd: -1 })
  // One unknown field stands for all of the others.
  const rest = Buffer.from('0880e0ffffffffffff017801', 'hex')
  const memory = Buffer.concat([make(mmEntry, { exeFileId: 7, vmas: [...vmas, last] }), rest])
  return encodeImage({ head: mmMagic, entries: [memory] })
}

export interface PagemapStyle {
  /** 4.1 has a number of 32 bits, 4.2 another of 64 */
  readonly version: '4.1' | '4.2'
  /** the longest run of one entry */
  readonly longest: number
}

export const pagemapStyles: fc.Arbitrary<PagemapStyle> = fc.record({
  version: fc.constantFrom('4.1', '4.2'),
  longest: fc.constantFrom(3, 17, 1000),
})

export function pagemapOf(present: Iterable<number>, { version, longest }: PagemapStyle): Buffer {
  const runs: { start: number; pages: number }[] = []
  for (const at of [...present].sort((a, b) => a - b)) {
    const last = runs.at(-1)
    if (last && last.start + last.pages * page === at && last.pages < longest) last.pages += 1
    else runs.push({ start: at, pages: 1 })
  }
  const entries = runs.map(({ start, pages }, index) => {
    const flags = index % 3 === 0 ? 6 : 4
    const count =
      version === '4.1' ? { compatNrPages: pages } : { compatNrPages: 0, nrPages: pages }
    return make(pagemapEntry, { vaddr: start, flags, ...count })
  })
  const head = make(pagemapHead, { pagesId: 3 })
  return encodeImage({ head: pagemapMagic, entries: [head, ...entries] })
}
