import { join } from 'node:path'
import type { DumpImages } from '../images/dump-images.ts'
import type { PartialDump as PartialProcess } from '../images/memory/inherit.ts'
import { type Older, olderContents, olderPart } from '../images/memory/older.ts'
import { decodePagemap, pagesIdOf, stretchesOf } from '../images/memory/pagemap.ts'
import { intersect, joinRanges, lengthOf, subtract } from '../images/memory/ranges.ts'
import { AllPages, placedIn } from '../memory/all-pages.ts'
import { pagesImage } from '../memory/dumped-processes.ts'
import { knownPages } from '../memory/needed-pages.ts'
import { type ReachedMemory, reachedMemory } from '../memory/reached-memory.ts'
import type { PartialDump } from './inherit-dump.ts'

/** Memory that a process may not map. Some of its pages are in the dump, the others in an earlier one. */
export async function reachedIn(
  images: DumpImages,
  pid: number,
  { mm, pagemap, clean, older }: PartialProcess,
  { previous, verdicts }: PartialDump,
): Promise<ReachedMemory[]> {
  const path = join(images.directory, pagesImage(pagesIdOf(pagemap)))
  const written = stretchesOf(decodePagemap(pagemap))
  const inherited = subtract(joinRanges(clean), written)
  const openPages = () => {
    const pieces = intersect(older, inherited, olderPart)
    const others = placedIn(pieces, previous.chains(pid), [previous.pages])
    const own = written.map((stretch) => ({ ...stretch, path }))
    // A fork maps files of its own. The snapshot before has links to them.
    const files = olderContents({ mm, pagemap }, knownPages(images.files)).filter(isFile)
    const hidden = joinRanges([...written, ...inherited])
    const mapped = intersect(files, subtract(files, hidden), olderPart)
    const all = [...own, ...others, ...placedIn(mapped, [], [previous.pages])]
    return new AllPages(all, lengthOf(written) + lengthOf(inherited) + lengthOf(mapped))
  }
  return await reachedMemory({ images, mm, openPages }, verdicts.get(pid)?.reached ?? [])
}

function isFile({ from }: Older): boolean {
  return from.kind === 'file'
}
