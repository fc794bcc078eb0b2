import { fdinfoEntry } from '../images/criu-messages.ts'
import { decodeImage } from '../images/image-file.ts'
import { decodeAreas, isPrivateFile, usedFiles } from '../images/memory/areas.ts'
import { regFilesUnder } from '../images/regular-files.ts'
import { read } from '../images/schema.ts'
import { pagesInside } from './pages-files.ts'

/** The pages files that images know of, by their numbers in files.img. */
export type KnownPages = ReadonlyMap<number, string>

export function knownPages(files: Buffer): KnownPages {
  const prefix = `${pagesInside}/`
  const known = regFilesUnder(files, prefix)
  return new Map(known.map(({ id, name }) => [id, name.slice(prefix.length)]))
}

/** Those that processes map or have open; an image may know of others that they have not any more. */
export function neededPages(
  known: KnownPages,
  mms: readonly Buffer[],
  fdinfos: readonly Buffer[],
): Set<string> {
  const used = mms.flatMap((mm) => [...usedFiles(mm)])
  const opened = fdinfos.flatMap((image) =>
    decodeImage(image).entries.map((entry) => read(fdinfoEntry, entry).id),
  )
  return new Set([...used, ...opened].flatMap((id) => known.get(id) ?? []))
}

/** How much of a process's memory is mapped from pages files. */
export function mappedBytes(known: KnownPages, mm: Buffer): number {
  return decodeAreas(mm)
    .areas.filter((area) => isPrivateFile(area) && known.has(area.shmid))
    .reduce((sum, { start, end }) => sum + end - start, 0)
}
