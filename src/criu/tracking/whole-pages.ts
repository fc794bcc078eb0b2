import { mkdir, open } from 'node:fs/promises'
import { join } from 'node:path'
import type { DumpImages } from '../images/dump-images.ts'
import { placesIn } from '../images/memory/levels.ts'
import {
  decodePagemap,
  inheritedIn,
  type NewRun,
  stretchesOf,
  withRuns,
} from '../images/memory/pagemap.ts'
import { joinRanges } from '../images/memory/ranges.ts'
import { copyRange } from '../memory/copy-pages.ts'
import type { DumpedProcess } from '../memory/dumped-processes.ts'
import { imageMode } from '../write-images.ts'
import { levelsOf } from './parents.ts'

/** A process that inherits no pages. */
export interface WholeProcess {
  readonly process: DumpedProcess
  /** path of its pages */
  readonly pages: string
}

export function inherits({ pagemap }: DumpedProcess): boolean {
  return inheritedIn(decodePagemap(pagemap)).length > 0
}

/** Copies all pages of a process, whatever dump they are in, into a new file in `to`. */
export async function wholePages(
  images: DumpImages,
  process: DumpedProcess,
  to: string,
): Promise<WholeProcess> {
  const pagemap = decodePagemap(process.pagemap)
  const all = joinRanges([...stretchesOf(pagemap), ...inheritedIn(pagemap)])
  const places = placesIn(levelsOf(images.directory, process.pid), all)
  const path = join(to, `pages-${process.pid}`)
  await mkdir(to, { recursive: true, mode: 0o700 })
  await using target = await open(path, 'wx', imageMode)
  let at = 0
  for (const { start, end, from } of places) {
    await using source = await open(from.path)
    await copyRange(source, from.offset, target, at, end - start)
    at += end - start
  }
  await target.truncate(at)
  const runs = all.map((range): NewRun => ({ ...range, place: 'here' }))
  return {
    process: { ...process, pagemap: withRuns(pagemap, runs), pagesBytes: at },
    pages: path,
  }
}
