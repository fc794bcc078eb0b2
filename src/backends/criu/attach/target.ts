import {
  insidePid,
  isSameFile,
  keyOf,
  linkOf,
  processBy,
  requireOrdinary,
  requireOutside,
  requireSessions,
  requireUntraced,
  workdirOf,
} from '../../../criu/foreign/process.ts'
import { treeOf } from '../../../linux/process-tree.ts'
import { InvalidInputError } from '../../../model/errors.ts'
import type { AttachTarget } from '../../facets.ts'

/** What copies need for themselves: process 1 and the agent. See native/cell/plain/plain.c. */
const takenPids = 2

/** Finds a process by its pid, and refuses one that cannot be adopted. */
export function findTarget(text: string): AttachTarget {
  const process = processBy(text)
  const { pid } = process
  requireOrdinary(pid)
  requireUntraced(pid)
  requireSameFiles(pid)
  const tree = treeOf(pid)
  requireOutside(pid, tree)
  requireFreePids(tree)
  requireSessions(tree)
  return {
    key: keyOf(process),
    name: `pid:${pid}`,
    workdir: workdirOf(pid),
  }
}

/** CRIU and the copies use the host's files, so the process must have the same. */
function requireSameFiles(pid: number): void {
  const why = isSameFile('/', `/proc/${pid}/root`)
    ? linkOf(`/proc/${pid}/ns/user`) === linkOf('/proc/self/ns/user')
      ? null
      : 'it is in a user namespace of its own'
    : 'it has another root directory than this machine, as in a container'
  if (why === null) return
  throw new InvalidInputError(`process ${pid} cannot be adopted: ${why}`, {
    remedy:
      'adopt its container with `--backend docker` or `podman`, or take its files with `create --from container:NAME`',
  })
}

function requireFreePids(tree: readonly number[]): void {
  const taken = tree.find((pid) => insidePid(pid) <= takenPids)
  if (taken === undefined) return
  throw new InvalidInputError(
    `process ${taken} cannot be adopted: in its pid namespace it is process ${insidePid(taken)}, which every copy has already`,
    { remedy: 'attach to one of its children' },
  )
}
