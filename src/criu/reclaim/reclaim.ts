import { statSync } from 'node:fs'
import { join } from 'node:path'
import { killPoint } from '../../linux/kill-points.ts'
import type { Tools } from '../../linux/tools.ts'
import { joinRanges, lengthOf, subtract } from '../images/memory/ranges.ts'
import { noteTaken } from '../manifest.ts'
import { type HeldFile, type MemoryHome, orphanedFiles } from './borrowed.ts'
import { type UsedRanges, usedRanges } from './used-ranges.ts'

/** Less is not worth reading images for. */
const leastBytes = 1024 ** 2

/**
 * Frees the parts of files that only removed snapshots needed. Files that snapshots inherit are links, so
 * without this a page of a removed snapshot would keep all its others. Whoever begins to use such a file
 * meanwhile does so through one of these snapshots, and needs no more of it than that one. Returns the bytes
 * of files that a life maps: they stay as they are.
 */
export async function reclaim(tools: Tools, homes: readonly MemoryHome[]): Promise<number> {
  const large = orphanedFiles(homes).filter(({ bytes }) => bytes >= leastBytes)
  const mapped = large.filter(({ hasOtherUsers }) => hasOtherUsers)
  const files = large.filter(({ hasOtherUsers }) => !hasOtherUsers)
  const concerned = new Set(files.flatMap(({ names }) => names.map(({ home }) => home)))
  const used = [...concerned].map(usedRanges)
  for (const file of files) await punch(tools, file, used)
  return mapped.reduce((sum, { bytes }) => sum + bytes, 0)
}

async function punch(tools: Tools, file: HeldFile, used: readonly UsedRanges[]): Promise<void> {
  const needed = joinRanges(used.flatMap((ranges) => ranges.get(file.inode) ?? []))
  if (file.bytes < lengthOf(needed) + leastBytes) return
  const [first] = file.names
  if (first === undefined) return
  const path = join(first.home.path, first.path)
  const free = subtract([{ start: 0, end: file.size }], needed)
  await note(file, 'anything')
  killPoint('reclaim:noted')
  // Somebody may have begun to map it.
  if (statSync(path).nlink !== file.names.length) return
  const lines = free.map(({ start, end }) => `${start} ${end - start}\n`)
  await tools.runCell('giving disk space back', ['punch', path], { input: lines.join('') })
  killPoint('reclaim:punched')
  await note(file, 'as it is')
}

/** Before it shrinks, the manifests must allow it: otherwise a crash would make a good snapshot look damaged. */
async function note({ names }: HeldFile, taken: 'anything' | 'as it is'): Promise<void> {
  for (const [home, held] of Map.groupBy(names, (name) => name.home)) {
    const paths = held.map(({ path }) => path)
    await noteTaken(home.path, paths, taken)
  }
}
