import { pstreeEntry } from '../format/criu-messages.ts'
import type { ImageFile } from '../format/image-file.ts'
import { read } from '../format/schema.ts'
import { duplicateRegFile } from '../regular-files.ts'
import { type Area, decodeAreas, isPrivateFile, renumbered, withAreas } from './areas.ts'

/** The images of all processes of a dump. */
export interface Family {
  /** pstree.img */
  readonly pstree: ImageFile
  /** mm-PID.img of each process */
  readonly memories: ReadonlyMap<number, Buffer>
  /** files.img */
  readonly files: ImageFile
}

/**
 * CRIU lets a child inherit its parent's memory if both map the same file privately at the same
 * addresses, without checking that both map the same part of it. With pages files the parts can differ:
 * a child that moves one block to where the parent has another would see the parent's. Such a child gets
 * the file under its own number. Returns what has changed; null if nothing had to.
 */
export function tellMappingsApart(family: Family): Pick<Family, 'memories' | 'files'> | null {
  const memories = new Map<number, Buffer>()
  let { files } = family
  for (const { pid, ppid } of processesOf(family.pstree)) {
    const [mm, mmOfParent] = [family.memories.get(pid), family.memories.get(ppid)]
    if (!mm || !mmOfParent) continue
    const { image, areas, executable } = decodeAreas(mm)
    const parent = decodeAreas(mmOfParent)
    // CRIU looks only at children that run the same program.
    if (executable !== parent.executable) continue
    const mistaken = mistakenIn(areas, parent.areas)
    if (mistaken.size === 0) continue
    const duplicated = duplicateFiles(files, mistaken)
    files = duplicated.files
    const entries = areas.map((area) => {
      const number = mistaken.has(area) ? duplicated.numbers.get(area.shmid) : undefined
      return number === undefined ? area.entry : renumbered(area, number)
    })
    memories.set(pid, withAreas(image, entries))
  }
  return memories.size === 0 ? null : { memories, files }
}

/** files.img with a second entry for each file of these areas, and the new numbers by the old ones. */
function duplicateFiles(
  files: ImageFile,
  areas: Iterable<Area>,
): { files: ImageFile; numbers: ReadonlyMap<number, number> } {
  let extended = files
  const numbers = new Map<number, number>()
  for (const { shmid } of areas) {
    if (numbers.has(shmid)) continue
    const copy = duplicateRegFile(extended, shmid)
    extended = copy.files
    numbers.set(shmid, copy.id)
  }
  return { files: extended, numbers }
}

/** The processes of a dump, and their parents. */
export function processesOf(pstree: ImageFile): { pid: number; ppid: number }[] {
  return pstree.entries.map((entry) => read(pstreeEntry, entry))
}

/** The child's areas that CRIU would mistake for the parent's. */
function mistakenIn(child: readonly Area[], parent: readonly Area[]): Set<Area> {
  const places = new Map(parent.filter(isPrivateFile).map((area) => [area.start, area]))
  const isMistaken = (area: Area) => {
    const other = places.get(area.start)
    return other?.end === area.end && other.shmid === area.shmid && other.pgoff !== area.pgoff
  }
  return new Set(child.filter(isPrivateFile).filter(isMistaken))
}
