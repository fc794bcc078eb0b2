import { readdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { BackendError } from '../../model/errors.ts'
import { patience } from '../../model/values/patience.ts'
import { readOfProcess } from '../process-files.ts'
import { identify, isAlive, type ProcessIdentity } from '../process-identity.ts'

const longestSeconds = 10
/** How long a program may take that must not be killed. */
const longestWaitSeconds = 120
const pauseMs = 5

/**
 * Ends every process that has all of these among its arguments. One that was just starting others may not be the last,
 * so it looks until nothing is left.
 */
export async function endNamedProcesses(what: string, words: readonly string[]): Promise<void> {
  await untilNone(what, words, longestSeconds, kill)
}

/** Waits until no process has all of these among its arguments. */
export async function namedProcessesEnd(what: string, words: readonly string[]): Promise<void> {
  await untilNone(what, words, longestWaitSeconds, () => {})
}

async function untilNone(
  what: string,
  words: readonly string[],
  seconds: number,
  hurry: (pid: number) => void,
): Promise<void> {
  const deadline = performance.now() + patience(seconds)
  for (;;) {
    const left = namedProcesses(words).map(({ pid }) => pid)
    if (left.length === 0) return
    if (performance.now() > deadline) throw immortal(what, left)
    for (const pid of left) hurry(pid)
    await sleep(pauseMs)
  }
}

/** The processes that have all of these among their arguments, without this one. */
export function namedProcesses(words: readonly string[]): ProcessIdentity[] {
  return allPids()
    .filter((pid) => {
      const given = readOfProcess(pid, 'cmdline')?.split('\0') ?? []
      return pid !== process.pid && words.every((word) => given.includes(word))
    })
    .flatMap((pid) => identify(pid) ?? [])
    .filter(isAlive)
}

export function allPids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
}

export function immortal(what: string, pids: readonly number[]): BackendError {
  return new BackendError(`processes of ${what} do not end: ${pids.join(', ')}`, {
    remedy: 'try again; if they wait for a disk or a network file system, that must answer first',
    detail: { pids },
  })
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}
