import { statSync } from 'node:fs'
import { join } from 'node:path'
import { readFile } from '../../linux/files/quick-fs.ts'
import { openImages } from '../images/dump-images.ts'
import { rangeWith } from '../images/memory/ranges.ts'
import { deviceOf } from '../images/mounts.ts'
import type { Search } from './search-since.ts'
import type { SearchedPages } from './searched-pages.ts'
import { pagesOutside, type RangesByProcess, unchangedRanges } from './unchanged-pages.ts'

/** What the search in an earlier snapshot of the same processes leaves to do. */
export interface Known {
  /** what was found there, in memory that has not changed since */
  readonly lines: readonly string[]
  /** where to search */
  readonly pages: readonly SearchedPages[]
}

/**
 * Reads what was found in the snapshot before, whose images are in `home`. A program got every pair in unchanged
 * memory before that snapshot was taken, from a file that was there, or is gone for good: btrfs never gives an
 * inode number twice. If the device is another one, unchanged memory is from before there were files on it.
 */
export async function knownFrom(
  home: string,
  device: number,
  pages: readonly SearchedPages[],
  { name, pagesIn }: Pick<Search, 'name' | 'pagesIn'>,
): Promise<Known> {
  const found = (await readFile(join(home, name), 'utf8')).trimEnd()
  const images = openImages(join(home, 'images'))
  const before = pagesIn(images, home)
  const unchanged = unchangedRanges(pages, before, identities())
  const [, ...lines] = found.split('\n')
  return {
    lines: deviceOf(images, '/') === device ? lines.filter(isIn(unchanged)) : [],
    pages: pagesOutside(pages, unchanged),
  }
}

/** Snapshots share files of pages by links to them, under names of their own. */
function identities(): (path: string) => string {
  const known = new Map<string, string>()
  return (path) => {
    const identity = known.get(path) ?? identityOf(path)
    known.set(path, identity)
    return identity
  }
}

function identityOf(path: string): string {
  const { dev, ino } = statSync(path)
  return `${dev}:${ino}`
}

function isIn(ranges: RangesByProcess): (line: string) => boolean {
  return (line) => {
    const [pid, address] = line.split(' ').map(Number)
    return rangeWith(ranges.get(pid ?? 0) ?? [], address ?? 0) !== undefined
  }
}
