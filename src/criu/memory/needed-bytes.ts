import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { SnapshotMemory } from '../../model/snapshot.ts'
import type { DumpImages } from '../images/dump-images.ts'
import { commonBytes, copiedIn } from '../images/memory/common-pages.ts'
import { pagesIdOf } from '../images/memory/pagemap.ts'
import { lengthOf } from '../images/memory/ranges.ts'
import { dumpedMemory, pagesImage, pidsIn } from './dumped-processes.ts'

type Needed = Required<Pick<SnapshotMemory, 'neededBytes' | 'commonBytes'>>

/**
 * The memory that a copy of these processes takes at once. Mapped pages cost nothing until they are written.
 * `privateBytes` is what the original has.
 */
export function neededOf(images: DumpImages, privateBytes: number): Needed {
  const processes = new Map(pidsIn(images).map((pid) => [pid, copiedIn(dumpedMemory(images, pid))]))
  const copied = [...processes.values()].reduce((sum, { pages }) => sum + lengthOf(pages), 0)
  const all = copied + sharedBytes(images)
  const common = commonBytes(images.image('pstree.img'), processes)
  const ofKernel = processes.size * processBytes + Math.ceil(copied / pagesInTable)
  return { neededBytes: all + ofKernel, commonBytes: reallyCommon(all, common, privateBytes) }
}

/** What the kernel keeps of each process; measured: 93 KiB of `sleep` on Linux 6.18. */
const processBytes = 92 * 1024
/** Eight bytes in a page table for each page of 4096. */
const pagesInTable = 512

/**
 * Pages that a process may have in common with its parent are in the images twice. How many of them are equal,
 * the original tells: there, those are in memory once.
 */
export function reallyCommon(all: number, possible: number, privateBytes: number): number {
  return Math.max(0, Math.min(possible, all - privateBytes))
}

/** Memory that several processes map and may write. */
function sharedBytes(images: DumpImages): number {
  const pagemaps = images.matching(/^pagemap-shmem-\d+\.img$/)
  const ids = new Set(pagemaps.map((name) => pagesIdOf(images.bytes(name))))
  const sizes = [...ids].map((id) => statSync(join(images.directory, pagesImage(id))).size)
  return sizes.reduce((sum, size) => sum + size, 0)
}
