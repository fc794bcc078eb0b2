import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ifThere } from '../../../linux/if-there.ts'
import { BackendError } from '../../../model/errors.ts'

type State = 'frozen' | 'thawed'

/** How one cgroup is frozen. Kernel files need no thread pool. */
interface Freezer {
  /** what is wanted of it, to read and to write */
  readonly control: string
  readonly words: Readonly<Record<State, string>>
  /** what it has reached, in the same words */
  reached(): string | undefined
}

/** By v2, or v1 where there is no v2; the first group of an environment is the one that freezes. */
function freezerOf([dir = '']: readonly string[]): Freezer {
  const v2 = join(dir, 'cgroup.freeze')
  if (existsSync(v2)) {
    const events = join(dir, 'cgroup.events')
    return {
      ...{ control: v2, words: { frozen: '1', thawed: '0' } },
      reached: () => /^frozen (\d)/m.exec(readFileSync(events, 'utf8'))?.[1],
    }
  }
  const v1 = join(dir, 'freezer.state')
  return {
    ...{ control: v1, words: { frozen: 'FROZEN', thawed: 'THAWED' } },
    reached: () => readFileSync(v1, 'utf8').trim(),
  }
}

export async function freeze(dirs: readonly string[]): Promise<void> {
  const freezer = freezerOf(dirs)
  try {
    await reach(freezer, 'frozen')
  } catch (error) {
    // All of it runs, or none: whoever fails to freeze it has nothing to thaw.
    ifThere(() => writeFileSync(freezer.control, freezer.words.thawed))
    throw error
  }
}

export async function thaw(dirs: readonly string[]): Promise<void> {
  await reach(freezerOf(dirs), 'thawed')
}

const longestMs = 10_000

async function reach({ control, words, reached }: Freezer, state: State): Promise<void> {
  const deadline = Date.now() + longestMs
  writeFileSync(control, words[state])
  while (reached() !== words[state]) {
    if (Date.now() > deadline) throw stuck(control, state)
    await sleep(1)
  }
}

function stuck(control: string, state: State): BackendError {
  return new BackendError(`the processes of ${dirname(control)} are not all ${state} after 10 s`, {
    remedy: 'a process may be stuck in the kernel (state D); see `ps` on the host',
  })
}

export function isFrozen(dirs: readonly string[]): boolean {
  const { control, words } = freezerOf(dirs)
  const wanted = ifThere(() => readFileSync(control, 'utf8').trim())
  return wanted !== null && wanted !== words.thawed
}

/**
 * Lets processes run that wait frozen; false if they do not. Without waiting: their agent's answer
 * tells that they run.
 */
export function wakeFrozen(dirs: readonly string[]): boolean {
  const { control, words } = freezerOf(dirs)
  if (ifThere(() => readFileSync(control, 'utf8').trim()) !== words.frozen) return false
  writeFileSync(control, words.thawed)
  return true
}
