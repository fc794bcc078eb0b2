import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Forkpoint, type OpenOptions } from '../../index.ts'
import { ResourceError } from '../../model/errors.ts'
import { containersOf, removeCgroups } from '../peers/cgroups.ts'
import { pids, readOf } from '../proc.ts'
import { BenchHome } from './bench-home.ts'
import { type Left, leftBehind, leftPlaces, removePlace } from './places.ts'
import { unmountBelow } from './unmount-below.ts'

const patienceMs = 10_000
const runcState = '/run/runc'

/** Programs of peers that are neither in a container nor have another root. */
const engines = [
  'dockerd',
  'containerd',
  'containerd-shim-runc-v2',
  'docker',
  'podman',
  'conmon',
  'runc',
  'criu',
  'unshare',
]

/** Removes what killed runs left behind: their environments, and the programs of their peers. */
export async function removeKilledRuns(options: OpenOptions): Promise<void> {
  const { home } = Forkpoint.settings(options).settings
  for (const { path } of leftBehind(home, /^bench-(\d+)-/)) {
    await using left = new BenchHome(options, { path })
    await left.openWarm()
  }
  for (const place of leftPlaces()) {
    await endPeers(place)
    await unmountBelow(place.path)
    forgetContainers(place.path)
    await removeCgroups(`${containersOf(place.run)}-`)
    removePlace(place.path)
  }
}

async function endPeers(place: Left): Promise<void> {
  for (const end = performance.now() + patienceMs; ; await sleep(20)) {
    const left = pids().filter((pid) => isPeer(pid, place))
    if (left.length === 0) return
    if (performance.now() > end)
      throw new ResourceError(`processes of a killed benchmark do not end: ${left}`, {
        remedy: 'end them, then try again',
      })
    for (const pid of left) kill(Number(pid))
  }
}

/** An engine has the place on its command line, a container the run in its cgroup; others have their root there. */
function isPeer(pid: string, { path, run }: Left): boolean {
  const program = programOf(pid)
  if (program === null) return false
  // The path of its root on that file system, which may not be the one of the host's root.
  const root = /^\d+ \d+ \S+ (\S+) \/ /m.exec(readOf(pid, 'mountinfo'))?.[1] ?? ''
  return (
    (engines.includes(program) && readOf(pid, 'cmdline').includes(`${path}/`)) ||
    readOf(pid, 'cgroup').includes(`/${containersOf(run)}-`) ||
    root.includes(`/${basename(path)}/`)
  )
}

/** Null for a process that has ended, and for a kernel thread. */
function programOf(pid: string): string | null {
  try {
    return basename(readlinkSync(`/proc/${pid}/exe`))
  } catch {
    // Neither is a peer.
    return null
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    // ESRCH: it has already ended.
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** runc keeps its state of podman's containers outside podman's own directories. */
function forgetContainers(path: string): void {
  for (const id of existsSync(runcState) ? readdirSync(runcState) : []) {
    const state = join(runcState, id, 'state.json')
    if (existsSync(state) && readFileSync(state, 'utf8').includes(`${path}/`)) {
      rmSync(join(runcState, id), { recursive: true })
    }
  }
}
