import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod/mini'
import type { SocketIdentity } from '../agent/wire/socket.ts'
import { rm } from '../linux/files/quick-fs.ts'
import { nativeProgram } from '../linux/native-program.ts'
import type { Tools } from '../linux/tools.ts'
import { PrerequisiteError } from '../model/errors.ts'
import { criuFailure, stalled } from './criu-failure.ts'
import { dumpRequest, restoreRequest } from './criu-request.ts'
import type { CriuWorkers } from './criu-workers.ts'
import { attributesImage } from './images/attributes.ts'
import type { DumpImages } from './images/dump-images.ts'
import { movedSockets } from './images/moved-sockets.ts'
import { usedNames } from './images/names.ts'
import { replacedImages, rootFlagsOf } from './images/replaced-images.ts'
import { hasConnections } from './images/tcp/stream.ts'
import { waitsImage } from './images/waits.ts'
import { inVfork } from './not-still.ts'

/** How CRIU is started; its own loader and libraries may come first. */
export type CriuCommand = readonly [program: string, ...args: string[]]

export interface Criu {
  readonly command: CriuCommand
  /** the files of the host that it needs to run */
  readonly files: readonly string[]
}

/** How `doctor --fix` describes what it installed. */
const installed: z.ZodMiniType<{ argv: CriuCommand }> = z.object({
  argv: z.tuple([z.string()], z.string()),
})

/** Where a CRIU that the system installed finds its libraries. */
const systemFiles = ['/usr', '/lib', '/lib64', '/bin', '/sbin', '/etc/ld.so.cache']

export interface CriuPlace {
  /** path of a CRIU that the system installed; null: the private one */
  readonly criu: string | null
  /** directory of the private tools */
  readonly runtime: string
}

export function findCriu({ criu, runtime }: CriuPlace): Criu {
  if (criu !== null) {
    const files = [...systemFiles.filter((path) => existsSync(path)), criu]
    return { command: [criu], files }
  }
  const directory = join(runtime, 'criu')
  const description = join(directory, 'exec.json')
  if (!existsSync(description)) {
    throw new PrerequisiteError(`the private CRIU is not installed in ${runtime}`, {
      remedy: 'run `forkpoint doctor --fix`, or set `criu` to the path of CRIU 4.2 or newer',
    })
  }
  const { argv } = installed.parse(JSON.parse(readFileSync(description, 'utf8')))
  return { command: argv, files: [directory] }
}

export async function criuVersion(tools: Tools, criu: CriuCommand): Promise<string> {
  const [program, ...args] = criu
  const { stdout } = await tools.run(program, [...args, '--version'])
  return /Version: (\S+)/.exec(stdout)?.[1] ?? 'unknown'
}

export interface Dump {
  readonly pid: number
  readonly images: string
  /** the frozen cgroup of the environment; it stays frozen */
  readonly cgroup: string
  /** directory of what an earlier snapshot has, see tracking/baseline.ts; null: all pages are dumped */
  readonly tracking: string | null
}

/** Dumps a frozen environment. */
export async function dump(
  workers: CriuWorkers,
  { pid, images, cgroup, tracking }: Dump,
): Promise<void> {
  // A first attempt may have left one.
  if (tracking !== null) await rm(join(tracking, 'clean'), { force: true })
  const { stdout, stderr } = await workers.run({
    args: [
      ...['--images', images, '--cgroup', cgroup],
      ...(tracking === null ? [] : ['--tracking', tracking]),
    ],
    request: dumpRequest({ pid, images, cgroup }),
  })
  if (stdout === 'done\n') return
  if (stdout === 'stalled\n') throw await stalled(join(images, 'dump.log'), workers.logs)
  throw (
    inVfork(stdout) ?? (await criuFailure('dump', join(images, 'dump.log'), stderr, workers.logs))
  )
}

export interface Restore {
  readonly images: DumpImages
  /** path of the list of what they remember about files, see pairs/; null: nothing */
  readonly pairs: string | null
  /** `frozen`: no process runs until the cgroup is thawed */
  readonly start: 'running' | 'frozen'
  /** its IPv4 address; null: it has none, or what is bound to one stays as it is */
  readonly address: string | null
}

export interface Restored {
  /** the agent, as the host sees it */
  readonly pid: number
  readonly socket: SocketIdentity
}

function currentFilter(): Buffer {
  return readFileSync(nativeProgram('filter'))
}

/** The cell that processes are restored in. */
export interface RestoredCell {
  /** how a worker makes it, see native/cell/spec.h */
  readonly args: readonly string[]
  /** its own directory, where CRIU writes its log */
  readonly dir: string
  readonly ids: { readonly base: number; readonly count: number }
  readonly noNewPrivs: boolean
}

export async function restore(
  workers: CriuWorkers,
  cell: RestoredCell,
  { images, pairs, start, address }: Restore,
): Promise<Restored> {
  const args = [...cell.args, '--images', images.directory]
  if (start === 'frozen') args.push('--hold')
  if (images.has(waitsImage)) args.push('--waits', join(images.directory, waitsImage))
  if (images.has(attributesImage)) {
    args.push('--attributes', join(images.directory, attributesImage))
  }
  if (hasConnections(images)) args.push('--connections')
  if (pairs !== null) args.push('--pairs', pairs)
  const walls = { ids: cell.ids, filter: currentFilter(), rootFlags: rootFlagsOf(cell) }
  const { stdout, stderr } = await workers.run({
    args,
    request: restoreRequest(images.directory),
    names: usedNames(images.files),
    replaced: [
      ...replacedImages(images, walls),
      ...(address === null ? [] : movedSockets(images, address)),
    ],
  })
  const [state, pid, dev = '', ino = '', birthtimeNs = ''] = stdout.trim().split(' ')
  if (state !== 'restored')
    throw await criuFailure('restore', join(cell.dir, 'restore.log'), stderr, workers.logs)
  return {
    pid: Number(pid),
    socket: { dev: BigInt(dev), ino: BigInt(ino), birthtimeNs: BigInt(birthtimeNs) },
  }
}
