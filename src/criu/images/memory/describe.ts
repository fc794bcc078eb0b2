import { type Area, decodeAreas, inOrder, isFile, isPrivateAnonymous } from './areas.ts'
import { type Cut, presentIn } from './cuts.ts'
import { decodePagemap, stretchesOf } from './pagemap.ts'
import type { MemoryImages } from './pages.ts'

/** Where the bytes of some addresses come from. */
export type Source =
  | { readonly kind: 'page' /** in the pages file */; readonly offset: number }
  | { readonly kind: 'file'; readonly fileId: number; readonly offset: number }
  | { readonly kind: 'zero' }
  /** shared memory, or one of the kernel's own areas */
  | { readonly kind: 'other'; readonly status: number; readonly shmid: number }

export interface Content {
  readonly start: number
  readonly end: number
  readonly source: Source
}

/** What a process finds in its memory when it is restored, in order of addresses. */
export function describeMemory(images: MemoryImages): Content[] {
  const { areas } = decodeAreas(images.mm)
  const pagemap = decodePagemap(images.pagemap)
  return presentIn(inOrder(areas), stretchesOf(pagemap)).flatMap(contentOf)
}

export function contentOf({ area, stretches }: Cut): Content[] {
  const contents: Content[] = []
  let at = area.start
  for (const { start, end, offset } of stretches) {
    if (start > at) contents.push(beneath(area, at, start))
    contents.push({ start, end, source: { kind: 'page', offset } })
    at = end
  }
  if (at < area.end) contents.push(beneath(area, at, area.end))
  return contents
}

/** What a process sees where the dump has no page. */
function beneath(area: Area, start: number, end: number): Content {
  const { status, shmid, pgoff } = area
  if (isFile(area)) {
    const source = { kind: 'file', fileId: shmid, offset: pgoff + start - area.start } as const
    return { start, end, source }
  }
  const isZero = isPrivateAnonymous(area)
  return { start, end, source: isZero ? { kind: 'zero' } : { kind: 'other', status, shmid } }
}
