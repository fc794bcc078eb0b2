import { statfsSync } from 'node:fs'
import {
  isSameFile,
  keyOf,
  linkOf,
  processBy,
  processOf,
  requireOrdinary,
  requireOutside,
  requireSessions,
  requireUntraced,
  workdirOf,
} from '../../../criu/foreign/process.ts'
import { type FoundContainer, findContainer } from '../../../images/containers.ts'
import { factsOf } from '../../../images/facts.ts'
import { identify, type ProcessIdentity } from '../../../linux/process-identity.ts'
import { treeOf } from '../../../linux/process-tree.ts'
import { ConflictError, InvalidInputError, NotFoundError } from '../../../model/errors.ts'
import { quote } from '../../../model/text/quote.ts'
import type { AttachTarget } from '../../facets.ts'
import type { Native } from '../native.ts'
import { imageStore } from '../native-images.ts'
import { requireRoot } from '../prerequisites.ts'

/** A process with all its descendants, and the container that it is process 1 of, if it is. */
export interface Foreign {
  readonly process: ProcessIdentity
  readonly container: FoundContainer | null
}

const processShape = /^(pid:)?\d+$/

/** Finds a process or a container, and refuses one that cannot be moved into a cell. */
export async function findTarget(native: Native, text: string): Promise<AttachTarget> {
  requireRoot()
  if (processShape.test(text)) return processTarget(processBy(text))
  const container = await findContainer(imageStore(native), text.replace(/^container:/, ''))
  const { workdir, ...facts } = factsOf(container.image, container.config)
  const process = requireRunning(container)
  requireMovable(process.pid)
  return {
    key: `${container.id} ${keyOf(process)}`,
    name: `container:${container.name}`,
    workdir,
    image: { workdir, ...facts },
  }
}

/** What `findTarget` has found, if it still runs. */
export async function foreignOf(native: Native, { key, name }: AttachTarget): Promise<Foreign> {
  const [, id, processKey] = /^([0-9a-f]{64}) (.*)$/.exec(key) ?? []
  if (id === undefined || processKey === undefined) {
    return { process: processOf({ key }), container: null }
  }
  const container = await findContainer(imageStore(native), id)
  const process = requireRunning(container)
  if (keyOf(process) === processKey) return { process, container }
  throw new ConflictError(`${name} was started again meanwhile`, { remedy: 'attach again' })
}

function processTarget(process: ProcessIdentity): AttachTarget {
  const { pid } = process
  requireOrdinary(pid)
  if (!isSameFile('/', `/proc/${pid}/root`)) {
    throw new InvalidInputError(
      `process ${pid} cannot be adopted: it has another root directory than this machine, as in a container`,
      { remedy: 'attach to its container by name, such as `container:NAME`' },
    )
  }
  requireMovable(pid)
  return { key: keyOf(process), name: `pid:${pid}`, workdir: workdirOf(pid) }
}

function requireRunning({ engine, name, status, pid }: FoundContainer): ProcessIdentity {
  const what = `the container ${quote(name)}`
  if (status !== 'running') {
    const verb = status === 'paused' ? 'unpause' : 'start'
    throw new ConflictError(`${what} is ${status}, not running`, {
      remedy: `run \`${engine} ${verb} ${name}\` first, or take its files with \`create --from container:${name}\``,
    })
  }
  const process = identify(pid)
  if (process !== undefined && hasOwnRoot(pid)) return process
  throw new NotFoundError(`${what} has no process on this machine`, {
    remedy: `check with \`${engine} ps\` that it runs here, and not on another machine`,
  })
}

/** A container of a remote engine may have a pid that is somebody else's here. */
function hasOwnRoot(pid: number): boolean {
  return !isSameFile('/', `/proc/${pid}/root`)
}

function requireMovable(pid: number): void {
  requireUntraced(pid)
  const tree = treeOf(pid)
  requireOutside(pid, tree)
  requireSessions(tree)
  requireNamespaces(tree)
  requireProc(pid)
}

const procfs = 0x9fa0

/** CRIU enters the namespaces of the process, and is loaded through /proc there, which must be the kernel's own. */
function requireProc(pid: number): void {
  if (typeOf(`/proc/${pid}/root/proc`) === procfs) return
  throw new InvalidInputError(`process ${pid} cannot be adopted: it has no /proc`, {
    remedy: 'start it where /proc is mounted',
  })
}

/** CRIU enters these, and dumps from there. */
const entered = ['mnt', 'pid', 'net', 'ipc', 'uts', 'cgroup'] as const
/** The ids and clocks of these it would have to take along. */
const shared = ['user', 'time'] as const

function requireNamespaces(tree: readonly number[]): void {
  const [root = 0] = tree
  for (const pid of tree) {
    const own = shared.find((name) => differs(name, pid, 'self'))
    if (own !== undefined) {
      throw new InvalidInputError(
        `process ${pid} cannot be adopted: it is in a ${own} namespace of its own`,
        { remedy: 'start it without one; for a container, as root and without `--userns`' },
      )
    }
    const other = entered.find((name) => differs(name, pid, root))
    if (other !== undefined) {
      throw new InvalidInputError(
        `process ${pid} cannot be adopted: its ${other} namespace is not that of process ${root}`,
        { remedy: 'attach to the process that has made the namespace, or to a child of it' },
      )
    }
  }
}

/** False for a process that has ended meanwhile. */
function differs(name: string, pid: number, from: number | 'self'): boolean {
  const [one, other] = [pid, from].map((each) => linkOf(`/proc/${each}/ns/${name}`))
  return one !== null && other !== null && one !== other
}

/** Null if it does not exist. */
function typeOf(path: string): number | null {
  try {
    return statfsSync(path).type
  } catch {
    // Then there is no file system either.
    return null
  }
}
