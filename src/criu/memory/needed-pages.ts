import type { DumpImages } from '../images/dump-images.ts'
import { fdinfoEntry } from '../images/format/criu-messages.ts'
import type { ImageFile } from '../images/format/image-file.ts'
import { read } from '../images/format/schema.ts'
import {
  type Area,
  decodeAreas,
  inOrder,
  isPrivateFile,
  usedFiles,
} from '../images/memory/areas.ts'
import { decodePagemap, dumpedIn } from '../images/memory/pagemap.ts'
import type { MemoryImages } from '../images/memory/pages.ts'
import { lengthOf, subtract } from '../images/memory/ranges.ts'
import { regFilesUnder } from '../images/regular-files.ts'
import { mmImage, pidsIn } from './dumped-processes.ts'
import { pagesInside } from './pages-files.ts'

/** The pages files that images know of, by their numbers in files.img. */
export type KnownPages = ReadonlyMap<number, string>

export function knownPages(files: ImageFile): KnownPages {
  const prefix = `${pagesInside}/`
  const known = regFilesUnder(files, prefix)
  return new Map(known.map(({ id, name }) => [id, name.slice(prefix.length)]))
}

/** Those that processes map or have open. An image may list others that are no longer in use. */
export function neededPages(images: DumpImages): Set<string> {
  const known = knownPages(images.files)
  const used = pidsIn(images).flatMap((pid) => [...usedFiles(images.bytes(mmImage(pid)))])
  const opened = images
    .matching(/^fdinfo-\d+\.img$/)
    .flatMap((name) => images.image(name).entries)
    .map((entry) => read(fdinfoEntry, entry).id)
  return new Set([...used, ...opened].flatMap((id) => known.get(id) ?? []))
}

/** How much of a process's memory is mapped from pages files, and not hidden by pages of its own. */
export function mappedBytes(known: KnownPages, { mm, pagemap }: MemoryImages): number {
  const isMapped = (area: Area) => isPrivateFile(area) && known.has(area.shmid)
  const mapped = inOrder(decodeAreas(mm).areas).filter(isMapped)
  return lengthOf(subtract(mapped, dumpedIn(decodePagemap(pagemap))))
}
