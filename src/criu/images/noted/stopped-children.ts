import type { Attribute } from '../attributes.ts'
import type { DumpImages } from '../dump-images.ts'
import { coreEntry, pstreeEntry, taskCoreEntry } from '../format/criu-messages.ts'
import { read } from '../format/schema.ts'

/** CRIU's number for a process that a signal has stopped. */
const stopped = 3

/** Children that are stopped, for a copy to stop without telling their parents, who know it already. */
export function stoppedChildren(images: DumpImages, noted: readonly Attribute[]): Attribute[] {
  const unasked = new Set(
    noted.filter(({ word }) => word === 'unasked-stop').map(({ process }) => process),
  )
  return images.image('pstree.img').entries.flatMap((entry) => {
    const { pid, ppid } = read(pstreeEntry, entry)
    if (ppid === 0 || unasked.has(pid) || stateOf(images, pid) !== stopped) return []
    return [{ word: 'told-stop', process: ppid, number: ppid, value: String(pid) }]
  })
}

function stateOf(images: DumpImages, pid: number): number | null {
  const name = `core-${pid}.img`
  const [entry] = images.has(name) ? images.image(name).entries : []
  const task = entry && read(coreEntry, entry).tc
  return task === undefined ? null : read(taskCoreEntry, task).taskState
}
