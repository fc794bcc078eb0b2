import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SocketIdentity } from '../../agent/socket.ts'
import { PrerequisiteError } from '../../model/errors.ts'
import type { Settings } from '../../model/settings.ts'
import { type CellSpec, cellArguments } from './cell.ts'
import { criuFailure } from './criu-failure.ts'
import { dumpRequest, restoreRequest } from './criu-request.ts'
import type { CriuWorkers } from './criu-workers.ts'
import { runTool } from './run-tool.ts'

/** How CRIU is started: its own loader and libraries come before it. */
export type CriuCommand = readonly [program: string, ...args: string[]]

export function findCriu(settings: Pick<Settings, 'criu' | 'runtime'>): CriuCommand {
  if (settings.criu !== null) return [settings.criu]
  const description = join(settings.runtime, 'criu/exec.json')
  if (!existsSync(description)) {
    throw new PrerequisiteError(`the private CRIU is not installed in ${settings.runtime}`, {
      remedy: 'run `forkpoint doctor --fix`, or set `criu` to the path of CRIU 4.2 or newer',
    })
  }
  return (JSON.parse(readFileSync(description, 'utf8')) as { argv: CriuCommand }).argv
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
    args: ['--lock', images],
    request: dumpRequest({ pid, images, cgroup }),
  })
  if (stdout !== 'done\n') throw await criuFailure('dump', join(images, 'dump.log'), stderr)
}

export interface Restore {
  readonly images: string
  /** the agent's socket, as the host sees it */
  readonly socket: string
  /** `frozen`: nothing of it runs until its cgroup is thawed */
  readonly start: 'running' | 'frozen'
}

export interface Restored {
  /** the agent, as the host sees it */
  readonly pid: number
  readonly socket: SocketIdentity
}

export async function restore(
  workers: CriuWorkers,
  cell: CellSpec,
  { images, socket, start }: Restore,
): Promise<Restored> {
  const args = [...cellArguments(cell), '--socket', socket]
  if (start === 'frozen') args.push('--hold')
  const { stdout, stderr } = await workers.run({ args, request: restoreRequest(images) })
  const [state, pid, dev = '', ino = '', birthtimeNs = ''] = stdout.trim().split(' ')
  if (state !== 'restored')
    throw await criuFailure('restore', join(cell.dir, 'restore.log'), stderr)
  return {
    pid: Number(pid),
    socket: { dev: BigInt(dev), ino: BigInt(ino), birthtimeNs: BigInt(birthtimeNs) },
  }
}
