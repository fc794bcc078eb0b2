import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { DumpImages } from '../images/dump-images.ts'
import { decodePagemap, inheritedIn, pagesIdOf } from '../images/memory/pagemap.ts'
import type { MemoryImages } from '../images/memory/pages.ts'
import { lengthOf } from '../images/memory/ranges.ts'

/** The memory of one process in a dump. */
export interface DumpedProcess extends MemoryImages {
  /** inside */
  readonly pid: number
  /** N of pages-N.img */
  readonly pagesId: number
  readonly pagesBytes: number
}

export function dumpedProcesses(images: DumpImages): DumpedProcess[] {
  return pidsIn(images).map((pid) => {
    const memory = dumpedMemory(images, pid)
    const pagesId = pagesIdOf(memory.pagemap)
    const { size } = statSync(join(images.directory, pagesImage(pagesId)))
    return { pid, ...memory, pagesId, pagesBytes: size }
  })
}

/** What an earlier dump has of it. */
export function inheritedBytes({ pagemap }: MemoryImages): number {
  return lengthOf(inheritedIn(decodePagemap(pagemap)))
}

export function dumpedMemory(images: DumpImages, pid: number): MemoryImages {
  return { mm: images.bytes(mmImage(pid)), pagemap: images.bytes(pagemapImage(pid)) }
}

/** Images with changed memory for some processes. */
export function withMemories(
  images: DumpImages,
  memories: Iterable<readonly [pid: number, memory: MemoryImages]>,
): DumpImages {
  const changes = [...memories].flatMap(([pid, { mm, pagemap }]) => [
    [mmImage(pid), mm],
    [pagemapImage(pid), pagemap],
  ])
  return images.with(Object.fromEntries(changes))
}

export function pidsIn(images: DumpImages): number[] {
  return images.names.flatMap((name) => /^mm-(\d+)\.img$/.exec(name)?.[1] ?? []).map(Number)
}

export function mmImage(pid: number): string {
  return `mm-${pid}.img`
}

export function pagemapImage(pid: number): string {
  return `pagemap-${pid}.img`
}

export function pagesImage(pagesId: number): string {
  return `pages-${pagesId}.img`
}
