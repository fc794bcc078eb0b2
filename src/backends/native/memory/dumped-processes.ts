import { readdir, readFile, stat } from 'node:fs/promises'
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

export async function dumpedProcesses(images: string): Promise<DumpedProcess[]> {
  const names = await readdir(images)
  const pids = names.flatMap((name) => /^mm-(\d+)\.img$/.exec(name)?.[1] ?? [])
  return await Promise.all(pids.map((pid) => dumpedProcess(images, Number(pid))))
}

async function dumpedProcess(images: string, pid: number): Promise<DumpedProcess> {
  const [mm, pagemap] = await Promise.all([
    readFile(mmImage(images, pid)),
    readFile(join(images, `pagemap-${pid}.img`)),
  ])
  const pagesId = pagesIdOf(pagemap)
  const { size } = await stat(join(images, pagesImage(pagesId)))
  return { pid, mm, pagemap, pagesId, pagesBytes: size }
}

export function mmImage(images: string, pid: number): string {
  return join(images, `mm-${pid}.img`)
}

export function pagesImage(pagesId: number): string {
  return `pages-${pagesId}.img`
}
