import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import {
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
} from 'node:fs'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** An engine of the tests' own: everything it writes is in one directory. */
export interface EngineProcess extends AsyncDisposable {
  readonly socket: string
}

export interface EngineCommand {
  readonly program: string
  /** the cgroup that it makes for all its containers, and leaves behind */
  readonly cgroup: string
  readonly arguments: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

/** Short, because the engines put Unix sockets deep below it. */
export function engineDirectory(): string {
  return mkdtempSync(join(process.env.FORKPOINT_HOME ?? '/var/tmp', 'e-'))
}

/**
 * Starts an engine in a network namespace of its own, so that its bridge and its rules are not the
 * host's, and waits until it listens. Disposing of it ends it by its pid and removes its directory.
 */
export async function startEngine(
  directory: string,
  socket: string,
  command: EngineCommand,
): Promise<EngineProcess> {
  const log = join(directory, 'log')
  const output = openSync(log, 'w')
  const script = 'ip link set lo up; exec "$@"'
  const child = spawn(
    'unshare',
    ['--net', 'sh', '-c', script, 'sh', command.program, ...command.arguments],
    { stdio: ['ignore', output, output], env: { ...process.env, ...command.env } },
  )
  const before = cgroupsNamed(command.cgroup)
  const dispose = async () => {
    await end(child)
    await helpersEnded(directory)
    unmountBelow(directory)
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
    removeEmpty(cgroupsNamed(command.cgroup).filter((path) => !before.includes(path)))
  }
  try {
    await listening(child, socket, log)
    return { socket, [Symbol.asyncDispose]: dispose }
  } catch (error) {
    await dispose()
    throw error
  }
}

const longestStartMs = 60_000
const longestEndMs = 30_000

async function listening(child: ChildProcess, socket: string, log: string): Promise<void> {
  for (const deadline = Date.now() + longestStartMs; ; await sleep(20)) {
    if (await canConnect(socket)) return
    const isOver = child.exitCode !== null || Date.now() > deadline
    if (isOver)
      throw new Error(`the engine did not start:\n${readFileSync(log, 'utf8').slice(-4000)}`)
  }
}

async function canConnect(path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = createConnection({ path })
  socket.once('connect', () => resolve(true))
  socket.once('error', () => resolve(false))
  const can = existsSync(path) && (await promise)
  socket.destroy()
  return can
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill('SIGTERM')
  const late = sleep(longestEndMs, 'late', { ref: false })
  if ((await Promise.race([ended, late])) === 'late') child.kill('SIGKILL')
  await ended
}

/** What an engine starts to clean up after an exec outlives it, and mounts its storage once more. */
async function helpersEnded(directory: string): Promise<void> {
  for (const deadline = Date.now() + longestEndMs; ; await sleep(50)) {
    const left = readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && names(pid, directory))
    if (left.length === 0) return
    if (Date.now() > deadline) throw new Error(`processes of the engine do not end: ${left}`)
  }
}

function names(pid: string, directory: string): boolean {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(directory)
  } catch {
    // It has ended meanwhile.
    return false
  }
}

/** The last mount first: it may be on another. */
function unmountBelow(directory: string): void {
  const points = readFileSync('/proc/self/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '')
    .filter((point) => point.startsWith(`${directory}/`))
  for (const point of points.reverse()) execFileSync('umount', [point])
}

function cgroupsNamed(name: string): string[] {
  const top = '/sys/fs/cgroup'
  const places = [top, ...readdirSync(top).map((controller) => join(top, controller))]
  return places.map((place) => join(place, name)).filter((path) => existsSync(path))
}

/** With the one that Podman makes in its own. Another engine may have begun to use one of them. */
function removeEmpty(cgroups: readonly string[]): void {
  const inner = cgroups.map((path) => join(path, 'conmon')).filter((path) => existsSync(path))
  for (const path of [...inner, ...cgroups]) {
    try {
      rmdirSync(path)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code !== 'EBUSY' && code !== 'ENOTEMPTY' && code !== 'ENOENT') throw error
    }
  }
}
