import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { pagesIdOf } from '../images/memory/pagemap.ts'
import type { MemoryImages } from '../images/memory/pages.ts'

/** What a dump has of one process's memory. */
export interface DumpedProcess extends MemoryImages {
  /** inside */
  readonly pid: number
  /** N of pages-N.img */
  readonly pagesId: number
  readonly pagesBytes: number
}

/** Read at once, as all that is small and was just written: the thread pool would take five times as long. */
export function dumpedProcesses(images: string): DumpedProcess[] {
  const pids = readdirSync(images).flatMap((name) => /^mm-(\d+)\.img$/.exec(name)?.[1] ?? [])
  return pids.map((pid) => {
    const mm = readFileSync(mmImage(images, Number(pid)))
    const pagemap = readFileSync(join(images, `pagemap-${pid}.img`))
    const pagesId = pagesIdOf(pagemap)
    const { size } = statSync(join(images, pagesImage(pagesId)))
    return { pid: Number(pid), mm, pagemap, pagesId, pagesBytes: size }
  })
}

export function mmImage(images: string, pid: number): string {
  return join(images, `mm-${pid}.img`)
}

export function pagesImage(pagesId: number): string {
  return `pages-${pagesId}.img`
}
