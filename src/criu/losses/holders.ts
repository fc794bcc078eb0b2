import type { Lost } from '../../model/snapshot.ts'
import type { DumpImages } from '../images/dump-images.ts'
import { heldFiles } from '../images/held-files.ts'
import { pidsIn } from '../memory/dumped-processes.ts'
import type { Verdicts } from '../memory/verdicts.ts'

/** Which process has a file of files.img open, by its number there: the first, if several have. */
export function holdersOf(
  images: DumpImages,
  verdicts: Verdicts,
): ReadonlyMap<number, NonNullable<Lost['process']>> {
  const holders = new Map<number, NonNullable<Lost['process']>>()
  for (const pid of pidsIn(images).toSorted((a, b) => a - b)) {
    const process = { pid, command: verdicts.get(pid)?.command ?? '?' }
    for (const { id } of heldFiles(images, pid).open) {
      if (!holders.has(id)) holders.set(id, process)
    }
  }
  return holders
}
