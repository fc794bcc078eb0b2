import { existsSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Forkpoint, type OpenOptions } from '../index.ts'
import { BenchHome } from './bench-home.ts'
import { containersOf, removeCgroups } from './peers/cgroups.ts'
import { type Left, leftBehind, leftPlaces, removePlace } from './places.ts'
import { pids, readOf } from './proc.ts'
import { unmountBelow } from './unmount-below.ts'

const patienceMs = 10_000
const runcState = '/run/runc'

/** What peers start that is neither in a container nor has another root. */
const engines = [
  ...['dockerd', 'containerd', 'containerd-shim-runc-v2', 'docker'],
  ...['podman', 'conmon', 'runc', 'criu', 'unshare'],
]

/** A run that was killed has removed nothing: neither its environments nor what its peers started. */
export async function removeKilledRuns(options: OpenOptions): Promise<void> {
  const { home } = Forkpoint.settings(options).settings
  for (const { path } of leftBehind(home, /^bench-(\d+)-/)) {
    await using left = new BenchHome(options, path)
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
    if (performance.now() > end) throw new Error(`a killed bench left what does not end: ${left}`)
    for (const pid of left) kill(Number(pid))
  }
}

/** An engine has the place among its words, a container its run in its cgroup; others live there. */
function isPeer(pid: string, { path, run }: Left): boolean {
  const program = programOf(pid)
  if (program === null) return false
  // The path on its file system, which need not be that of the host's root.
  const root = /^\d+ \d+ \S+ (\S+) \/ /m.exec(readOf(pid, 'mountinfo'))?.[1] ?? ''
  return (
    (engines.includes(program) && readOf(pid, 'cmdline').includes(`${path}/`)) ||
    readOf(pid, 'cgroup').includes(`/${containersOf(run)}-`) ||
    root.includes(`/${basename(path)}/`)
  )
}

/** Null for one that has ended, and for a thread of the kernel. */
function programOf(pid: string): string | null {
  try {
    return basename(readlinkSync(`/proc/${pid}/exe`))
  } catch {
    return null
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** runc keeps what it knows of podman's containers outside of podman's own directories. */
function forgetContainers(path: string): void {
  for (const id of existsSync(runcState) ? readdirSync(runcState) : []) {
    const state = join(runcState, id, 'state.json')
    if (existsSync(state) && readFileSync(state, 'utf8').includes(`${path}/`)) {
      rmSync(join(runcState, id), { recursive: true })
    }
  }
}
