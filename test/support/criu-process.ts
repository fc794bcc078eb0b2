import { readdirSync, readFileSync, statSync } from 'node:fs'
import { setImmediate as immediately, setTimeout as sleep } from 'node:timers/promises'
import type { TestHome } from './test-home.ts'

/** Kills the CRIU that works for this process, as soon as `isTime`. */
export async function killCriu(
  doing: 'dump' | 'restore',
  isTime: (sinceMs: number) => boolean,
): Promise<void> {
  const pid = await appeared(doing)
  const began = performance.now()
  while (!isTime(performance.now() - began)) await sleep(1)
  process.kill(pid, 'SIGKILL')
}

/** Stops the CRIU that works for this process, as if it waited for something that never comes. */
export async function stopCriu(doing: 'dump' | 'restore', isTime: () => boolean): Promise<void> {
  const pid = await appeared(doing)
  while (!isTime()) await sleep(1)
  process.kill(pid, 'SIGSTOP')
}

/** Kills a process (by default one that CRIU restores) while CRIU traces it. */
export async function killTraced(doing: 'dump' | 'restore', given?: number): Promise<void> {
  for (;;) {
    // One that has just finished may still exist.
    for (const criu of findCrius(doing)) {
      const pid = given ?? childrenOf(criu)[0]
      if (pid === undefined || !isTracedBy(pid, criu)) continue
      process.kill(criu, 'SIGSTOP')
      process.kill(pid, 'SIGKILL')
      await sleep(100)
      process.kill(criu, 'SIGCONT')
      return
    }
    await immediately()
  }
}

function isTracedBy(pid: number, tracer: number): boolean {
  return read(`/proc/${pid}/status`).includes(`TracerPid:\t${tracer}\n`)
}

async function appeared(doing: string): Promise<number> {
  const deadline = Date.now() + 20_000
  for (;;) {
    const [pid] = findCrius(doing)
    if (pid !== undefined) return pid
    if (Date.now() > deadline) throw new Error(`no criu ${doing} was seen`)
    await immediately()
  }
}

export const whenPassed = (ms: number) => (sinceMs: number) => sinceMs >= ms

/** Whether a dump of this home has written more than that many bytes of memory to one file. */
export const hasWritten = (home: TestHome, bytes: number) => (): boolean =>
  readdirSync(home.path + snapshots).some((id) => sizesOf(home.path + snapshots + id) > bytes)

const snapshots = '/data/snapshots/'

function sizesOf(snapshot: string): number {
  const names = readdirSync(`${snapshot}/images`).filter((name) => name.startsWith('pages-'))
  return Math.max(0, ...names.map((name) => statSync(`${snapshot}/images/${name}`).size))
}

/** Those that run in workers of this process's spawners; CRIU's arguments say what it is doing. */
function findCrius(doing: string): number[] {
  const workers = childrenOf(process.pid).flatMap(childrenOf)
  return workers
    .flatMap(childrenOf)
    .filter((pid) => read(`/proc/${pid}/cmdline`).includes(`${doing} --rpc`))
}

function childrenOf(pid: number): number[] {
  return threadsOf(pid)
    .flatMap((thread) => read(`/proc/${pid}/task/${thread}/children`).split(' '))
    .filter(Boolean)
    .map(Number)
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    // It has ended.
    return []
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // Its process has ended.
    return ''
  }
}
