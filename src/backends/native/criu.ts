import { existsSync, readFileSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PrerequisiteError } from '../../model/errors.ts'
import type { Settings } from '../../model/settings.ts'
import { type CellSpec, cellArguments, nativeProgram } from './cell.ts'
import { criuFailure } from './criu-failure.ts'
import { pagesInside } from './memory/pages-files.ts'
import { runTool } from './run-tool.ts'

/** How CRIU is started: its own loader and libraries come before it. */
export type CriuCommand = readonly [program: string, ...args: string[]]

/**
 * CRIU keeps what it learned of the kernel in /run if that is a tmpfs, and probes it anew on every
 * call (30 ms) if not. Each call gets this directory as its /run.
 */
const kernelData = '/dev/shm/forkpoint-criu'

/** The mounts that are ours to provide, by the name CRIU's images know them. */
const externalMounts = {
  ...{ root: '/', dev: '/dev', run: '/run/forkpoint' },
  pages: pagesInside,
} as const

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

export function dumpArguments(dump: Dump): string[] {
  const args = ['dump', '--tree', String(dump.pid), '--images-dir', dump.images]
  args.push('--log-file', 'dump.log', '-v1', '--leave-running', '--freeze-cgroup', dump.cgroup)
  for (const [name, at] of Object.entries(externalMounts))
    args.push('--external', `mnt[${at}]:${name}`)
  args.push('--ghost-limit', '64M', '--network-lock', 'skip', ...common)
  return args
}

export interface Restore {
  readonly images: string
  /** the new environment's directory, for the log */
  readonly dir: string
  readonly pidfile: string
  /** variables for `cell` as CRIU's action script */
  readonly hook: Readonly<Record<string, string>>
}

/** Where `cell stage` shows CRIU the mounts it made. */
const stage = '/run/stage'

export function restoreArguments(restore: Restore): string[] {
  const args = ['restore', '--images-dir', restore.images, '--work-dir', restore.dir]
  args.push('--log-file', 'restore.log', '-v1', '--restore-detached', '--pidfile', restore.pidfile)
  args.push('--root', join(stage, 'root'), '--action-script', nativeProgram('cell'))
  for (const name of Object.keys(externalMounts)) {
    args.push('--external', `mnt[${name}]:${join(stage, name)}`)
  }
  return [...args, ...common]
}

const common = [
  ...['--empty-ns', 'net', '--manage-cgroups=ignore'],
  ...['--file-locks', '--tcp-established', '--link-remap'],
]

/** Dumps a frozen environment. */
export async function dump(criu: CriuCommand, request: Dump): Promise<void> {
  await mkdir(kernelData, { recursive: true, mode: 0o711 })
  const args = ['private', '--kdat', kernelData, '--', ...criu, ...dumpArguments(request)]
  const run = await runTool(nativeProgram('cell'), args)
  if (run.exitCode !== 0)
    throw await criuFailure('dump', join(request.images, 'dump.log'), run.stderr)
}

/** Restores into a cell's staged mounts; returns the agent's host pid. */
export async function restore(
  criu: CriuCommand,
  cell: CellSpec,
  request: Restore,
): Promise<number> {
  await mkdir(kernelData, { recursive: true, mode: 0o711 })
  const args = ['stage', ...cellArguments(cell), '--kdat', kernelData, '--', ...criu]
  const run = await runTool(nativeProgram('cell'), [...args, ...restoreArguments(request)], {
    env: request.hook,
  })
  if (run.exitCode !== 0)
    throw await criuFailure('restore', join(request.dir, 'restore.log'), run.stderr)
  return Number(await readFile(request.pidfile, 'utf8'))
}
