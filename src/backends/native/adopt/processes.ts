import { existsSync, readFileSync } from 'node:fs'
import { chmod, chown, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { findCriu } from '../../../criu/criu.ts'
import { criuFailure } from '../../../criu/criu-failure.ts'
import { firstFd, runCriuInside } from '../../../criu/foreign/criu-inside.ts'
import { adoptedOptions } from '../../../criu/foreign/dump-foreign.ts'
import { freeNumbers, renumber } from '../../../criu/images/adopted/numbers.ts'
import { type CellWalls, foreignId, withWalls } from '../../../criu/images/adopted/walls.ts'
import { writeImages } from '../../../criu/write-images.ts'
import { nativeProgram } from '../../../linux/native-program.ts'
import type { Tools } from '../../../linux/tools.ts'
import { BackendError, InvalidInputError } from '../../../model/errors.ts'
import type { EnvironmentId } from '../../../model/ids.ts'
import type { NativeInstance } from '../instance.ts'
import type { Native } from '../native.ts'

/** All of a cell. */
const namespaces = ['user', 'mount', 'pid', 'net', 'ipc', 'uts', 'cgroup'].map((one) => `--${one}`)

/** With this image, CRIU makes a time namespace. It is needed only after a reboot. */
const clocks = 'timens-0.img'

export interface DumpedProcesses {
  readonly images: string
  /** what leads outside, as `--inherit-fd` names it: copies have /dev/null instead */
  readonly nowhere: readonly string[]
}

/**
 * Restores dumped processes in a cell, behind its walls. CRIU has no more rights there than root of the
 * cell, and ends; the agent, as process 1, adopts what it leaves.
 */
export async function bringProcesses(
  native: Native,
  id: EnvironmentId,
  instance: NativeInstance,
  { images, nowhere }: DumpedProcesses,
): Promise<void> {
  const { slot, process, ids } = instance
  const { tools, workers, settings } = native
  await rm(join(images, clocks), { force: true })
  const free = await fitIntoCell(images, process.pid, settings)
  await giveTo(images, ids?.base ?? settings.ids.base)
  const discarding = `/proc/${process.pid}/root/dev/null`
  const inside = {
    namespaces: ['--target', String(process.pid), ...namespaces, '--setuid=0', '--setgid=0'],
    directory: images,
    groups: groupsOf(native, id, slot),
    opened: nowhere.map(() => discarding),
  }
  await startFrom(tools, process.pid, free)
  const { exitCode, stderr } = await runCriuInside(tools, findCriu(settings), inside, [
    ...['restore', '--restore-detached', ...adoptedOptions, '--log-file', 'restore.log'],
    ...(nowhere.some((name) => name.startsWith('socket:')) ? ['--ext-unix-sk'] : []),
    ...nowhere.flatMap((name, index) => ['--inherit-fd', `fd[${firstFd + index}]:${name}`]),
  ])
  if (exitCode === 0) return await startFrom(tools, process.pid, firstNumber)
  throw notMovable(await criuFailure('restore', join(images, 'restore.log'), stderr, workers.logs))
}

/** Those that the cell has: without limits on reads and writes, there is no group for them. */
function groupsOf(native: Native, id: EnvironmentId, slot: number): string[] {
  return native
    .cgroups(id, slot)
    .map((group) => join(group, 'cgroup.procs'))
    .filter((path) => existsSync(path))
}

/** After the agent. */
const firstNumber = 2

/** How many processes CRIU itself has at most. */
const criuProcesses = 32

/** New processes of a cell get the pids from here on. CRIU itself must not have one that it restores. */
async function startFrom(tools: Tools, agent: number, pid: number): Promise<void> {
  await tools.mustRun('choosing pids in a cell', 'nsenter', [
    ...['--target', String(agent), '--user', '--pid', '--setuid=0', '--setgid=0', '--'],
    ...['sh', '-c', 'echo "$1" > /proc/sys/kernel/ns_last_pid', 'sh', String(pid - 1)],
  ])
}

/**
 * Changes the images so that their processes fit into a cell, whose agent has this pid on the host. Returns
 * the first pid that CRIU can have there.
 */
async function fitIntoCell(
  directory: string,
  agent: number,
  { ids, noNewPrivs }: Native['settings'],
): Promise<number> {
  const images = await renumber(directory)
  const stranger = foreignId(images, ids.count)
  if (stranger !== undefined) {
    throw new InvalidInputError(
      `process ${stranger.thread} cannot be adopted: it has the user or group ${stranger.id}, and environments have only ids below ${ids.count}`,
      { remedy: 'raise the setting ids.count, or start the process as another user' },
    )
  }
  await writeImages(withWalls(images, { ...wallsOf(agent), noNewPrivs }))
  return freeNumbers(images, criuProcesses)
}

/** What the agent has, every process of its cell may have. */
function wallsOf(agent: number): Omit<CellWalls, 'noNewPrivs'> {
  const status = readFileSync(`/proc/${agent}/status`, 'utf8')
  const capabilities = BigInt(`0x${/^CapBnd:\s+([0-9a-f]+)$/m.exec(status)?.[1] ?? '0'}`)
  const filter = readFileSync(nativeProgram('filter'))
  return { filter, capabilities, limits: limitsOf(agent) }
}

const unlimited = 2n ** 64n - 1n

/** After the heading comes one line for each limit, in the order of their numbers. */
function limitsOf(pid: number): CellWalls['limits'] {
  const [, ...lines] = readFileSync(`/proc/${pid}/limits`, 'utf8').trim().split('\n')
  return lines.map((line) => {
    const [cur = '', max = ''] = line.slice(26).trim().split(/\s+/)
    return { cur: limitIn(cur), max: limitIn(max) }
  })
}

function limitIn(text: string): bigint {
  return text === 'unlimited' ? unlimited : BigInt(text)
}

/** Root of the cell reads the images, and writes CRIU's log beside them. */
async function giveTo(images: string, owner: number): Promise<void> {
  for (const name of await readdir(images)) await chmod(join(images, name), 0o644)
  await chmod(images, 0o755)
  await chown(images, owner, owner)
}

function notMovable(error: BackendError): BackendError {
  const { lastWords, logPath } = error
  return new BackendError(`CRIU cannot move the processes into a cell: ${error.message}`, {
    lastWords,
    logPath,
    cause: error,
    remedy:
      'see what native cannot adopt in docs/limitations.md; `--backend criu`, `docker` or `podman` adopts them where they are',
  })
}
