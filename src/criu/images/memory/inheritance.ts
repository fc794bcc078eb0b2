import { pstreeEntry } from '../criu-messages.ts'
import { decodeImage } from '../image-file.ts'
import { duplicateRegFile } from '../regular-files.ts'
import { read } from '../schema.ts'
import { type Area, decodeAreas, isPrivateFile, renumbered, withAreas } from './areas.ts'

/** The images of all processes of a dump. */
export interface Family {
  /** pstree.img */
  readonly pstree: Buffer
  /** mm-PID.img of each process */
  readonly memories: ReadonlyMap<number, Buffer>
  /** files.img */
  readonly files: Buffer
}

/**
 * CRIU lets a child inherit its parent's memory where both map the same file privately at the same
 * addresses, and does not ask whether it is the same part of it. With pages files it need not be: a
 * child that moves one block to where the parent has another would find the parent's. Such a child
 * gets the file under a number of its own. What has changed is returned; null if nothing had to.
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
    const numbers = new Map<number, number>()
    for (const { shmid } of mistaken) {
      if (numbers.has(shmid)) continue
      const copy = duplicateRegFile(files, shmid)
      files = copy.files
      numbers.set(shmid, copy.id)
    }
    const entries = areas.map((area) => {
      const number = mistaken.has(area) ? numbers.get(area.shmid) : undefined
      return number === undefined ? area.entry : renumbered(area, number)
    })
    memories.set(pid, withAreas(image, entries))
  }
  return memories.size === 0 ? null : { memories, files }
}

function processesOf(pstree: Buffer): { pid: number; ppid: number }[] {
  return decodeImage(pstree).entries.map((entry) => read(pstreeEntry, entry))
}

/** The child's areas that CRIU would take for the parent's. */
function mistakenIn(child: readonly Area[], parent: readonly Area[]): Set<Area> {
  const places = new Map(parent.filter(isPrivateFile).map((area) => [area.start, area]))
  const isMistaken = (area: Area) => {
    const other = places.get(area.start)
    return other?.end === area.end && other.shmid === area.shmid && other.pgoff !== area.pgoff
  }
  return new Set(child.filter(isPrivateFile).filter(isMistaken))
}
