import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SocketIdentity } from '../agent/wire/socket.ts'
import { nativeProgram } from '../linux/native-program.ts'
import { readFile } from '../linux/quick-fs.ts'
import { runTool } from '../linux/run-tool.ts'
import { PrerequisiteError } from '../model/errors.ts'
import type { Settings } from '../model/settings.ts'
import { criuFailure } from './criu-failure.ts'
import { dumpRequest, restoreRequest } from './criu-request.ts'
import type { CriuWorkers } from './criu-workers.ts'
import { usedNames } from './images/names.ts'
import { replacedImages, rootFlagsOf } from './images/replaced-images.ts'

/** How CRIU is started: its own loader and libraries come before it. */
export type CriuCommand = readonly [program: string, ...args: string[]]

export interface Criu {
  readonly command: CriuCommand
  /** what it needs of the host's files to run */
  readonly files: readonly string[]
}

/** Where a CRIU of the system has its libraries. */
const systemFiles = ['/usr', '/lib', '/lib64', '/bin', '/sbin', '/etc/ld.so.cache']

export function findCriu(settings: Pick<Settings, 'criu' | 'runtime'>): Criu {
  if (settings.criu !== null) {
    const files = [...systemFiles.filter((path) => existsSync(path)), settings.criu]
    return { command: [settings.criu], files }
  }
  const directory = join(settings.runtime, 'criu')
  const description = join(directory, 'exec.json')
  if (!existsSync(description)) {
    throw new PrerequisiteError(`the private CRIU is not installed in ${settings.runtime}`, {
      remedy: 'run `forkpoint doctor --fix`, or set `criu` to the path of CRIU 4.2 or newer',
    })
  }
  const { argv } = JSON.parse(readFileSync(description, 'utf8')) as { argv: CriuCommand }
  return { command: argv, files: [directory] }
}

export async function criuVersion(criu: CriuCommand): Promise<string> {
  const [program, ...args] = criu
  const { stdout } = await runTool(program, [...args, '--version'])
  return /Version: (\S+)/.exec(stdout)?.[1] ?? 'unknown'
}

export interface Dump {
  readonly pid: number
  readonly images: string
  /** the frozen cgroup of the environment; it stays frozen */
  readonly cgroup: string
}

/** Dumps a frozen environment. */
export async function dump(workers: CriuWorkers, { pid, images, cgroup }: Dump): Promise<void> {
  const { stdout, stderr } = await workers.run({
    args: ['--images', images, '--cgroup', cgroup],
    request: dumpRequest({ pid, images, cgroup }),
  })
  if (stdout !== 'done\n') throw await criuFailure('dump', join(images, 'dump.log'), stderr)
}

export interface Restore {
  readonly images: string
  /** `frozen`: nothing of it runs until its cgroup is thawed */
  readonly start: 'running' | 'frozen'
}

export interface Restored {
  /** the agent, as the host sees it */
  readonly pid: number
  readonly socket: SocketIdentity
}

function currentFilter(): Buffer {
  return readFileSync(nativeProgram('filter'))
}

/** Where the processes are restored to. */
export interface RestoredCell {
  /** how a worker makes it, see native/cell/main.c */
  readonly args: readonly string[]
  /** a directory of its own, for the log of a failure */
  readonly dir: string
  readonly ids: { readonly base: number; readonly count: number }
  readonly noNewPrivs: boolean
}

export async function restore(
  workers: CriuWorkers,
  cell: RestoredCell,
  { images, start }: Restore,
): Promise<Restored> {
  const args = [...cell.args, '--images', images]
  if (start === 'frozen') args.push('--hold')
  const { stdout, stderr } = await workers.run({
    ...{ args, request: restoreRequest(images) },
    names: usedNames(await readFile(join(images, 'files.img'))),
    replaced: await replacedImages(images, {
      ...{ ids: cell.ids, filter: currentFilter(), rootFlags: rootFlagsOf(cell) },
    }),
  })
  const [state, pid, dev = '', ino = '', birthtimeNs = ''] = stdout.trim().split(' ')
  if (state !== 'restored')
    throw await criuFailure('restore', join(cell.dir, 'restore.log'), stderr)
  return {
    pid: Number(pid),
    socket: { dev: BigInt(dev), ino: BigInt(ino), birthtimeNs: BigInt(birthtimeNs) },
  }
}
