import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { NotStillError } from '../../../criu/not-still.ts'
import { commandOf, inWords } from '../../../linux/command-line.ts'
import { ifExists } from '../../../linux/files/if-exists.ts'
import { readOfProcess } from '../../../linux/process-files.ts'
import { processesIn } from '../../../linux/processes-in.ts'
import { patience } from '../../../model/values/patience.ts'
import type { Cgroups } from './cgroup.ts'

type State = 'frozen' | 'thawed'

/** How to freeze one cgroup. Kernel files are fast enough to access synchronously. */
interface Freezer {
  /** file of the requested state */
  readonly control: string
  readonly words: Readonly<Record<State, string>>
  /** the actual state, in the same words */
  reached(): string | undefined
}

/** Uses v2, or v1 if there is no v2. */
function freezerOf([dir]: Cgroups): Freezer {
  const v2 = join(dir, 'cgroup.freeze')
  if (existsSync(v2)) {
    const events = join(dir, 'cgroup.events')
    return {
      control: v2,
      words: { frozen: '1', thawed: '0' },
      reached: () => /^frozen (\d)/m.exec(readFileSync(events, 'utf8'))?.[1],
    }
  }
  const v1 = join(dir, 'freezer.state')
  return {
    control: v1,
    words: { frozen: 'FROZEN', thawed: 'THAWED' },
    reached: () => readFileSync(v1, 'utf8').trim(),
  }
}

/** Fails with a `NotStillError` if they are not all frozen after this time. Some are: the caller thaws them. */
export async function freeze(dirs: Cgroups, withinMs: number): Promise<void> {
  await reach(freezerOf(dirs), 'frozen', withinMs)
}

export async function thaw(dirs: Cgroups): Promise<void> {
  await reach(freezerOf(dirs), 'thawed', patience(longestSeconds))
}

const longestSeconds = 10
const shortMs = 2

async function reach(
  { control, words, reached }: Freezer,
  state: State,
  withinMs: number,
): Promise<void> {
  const began = performance.now()
  writeFileSync(control, words[state])
  while (reached() !== words[state]) {
    const since = performance.now() - began
    if (since > withinMs) throw stuck(dirname(control), state)
    // Most cells take a tenth of a millisecond, and a timer takes a whole one.
    await (since < shortMs ? nextTurn() : sleep(1))
  }
}

function stuck(cgroup: string, state: State): NotStillError {
  const pid = processesIn(cgroup).find(waitsForKernel)
  const which = pid === undefined ? null : commandOf(pid)
  return new NotStillError(
    `${inWords(which)} cannot be ${state}: it waits for the kernel, usually for a disk or a network file system`,
    {
      remedy: `try again when it is done; \`grep State /proc/${pid ?? 'PID'}/status\` on the host shows D until then`,
      detail: { object: 'a wait that nothing interrupts', process: which, cgroup },
    },
  )
}

/** State D, in which a process cannot be stopped. */
function waitsForKernel(pid: number): boolean {
  return /^State:\tD/m.test(readOfProcess(pid, 'status') ?? '')
}

export function isFrozen(dirs: Cgroups): boolean {
  const { control, words } = freezerOf(dirs)
  const wanted = ifExists(() => readFileSync(control, 'utf8').trim())
  return wanted !== null && wanted !== words.thawed
}

/**
 * Thaws a cell that waits frozen; false if it is not frozen. Does not wait, because an answer of the agent
 * will show that the cell runs.
 */
export function wakeFrozen(dirs: Cgroups): boolean {
  const { control, words } = freezerOf(dirs)
  if (ifExists(() => readFileSync(control, 'utf8').trim()) !== words.frozen) return false
  writeFileSync(control, words.thawed)
  return true
}
