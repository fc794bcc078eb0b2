import { allPids } from './lives/named-processes.ts'
import { readOfProcess } from './process-files.ts'

/** A process and everything that descends from it, parents first. */
export function treeOf(root: number): number[] {
  const children = Map.groupBy(allPids(), (pid) => parentOf(pid))
  const tree = [root]
  for (const pid of tree) tree.push(...(children.get(pid) ?? []))
  return tree
}

/** Null if it has ended. */
function parentOf(pid: number): number | null {
  const stat = readOfProcess(pid, 'stat')
  // The name before the last parenthesis may contain anything.
  return stat === null ? null : Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
}
