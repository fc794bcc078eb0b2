// The four states in which an environment is attacked.
import type { CreateOptions, Environment, Forkpoint } from '../../../src/index.ts'
import type { TestHome } from '../../support/test-home.ts'

export const states = ['fresh', 'after a snapshot', 'in a fork', 'restored from disk'] as const
export type State = (typeof states)[number]

export const users = ['root', 'nobody'] as const
export type User = (typeof users)[number]

export interface AttackRun {
  readonly state: State
  readonly user: User
}

/** Every state, as each user. */
export const allRuns: readonly AttackRun[] = states.flatMap((state) =>
  users.map((user) => ({ state, user })),
)

/** As a directory and in a message. */
export function nameOf({ state, user }: AttackRun): string {
  return `${state.replaceAll(' ', '-')}-${user}`
}

/** A new environment in one of the states, for attacks that destroy it. */
export async function environmentIn(
  home: TestHome,
  state: State,
  options: CreateOptions = {},
): Promise<Environment> {
  const fp = await home.open()
  const env = await fp.create(options)
  if (state === 'fresh') return env
  const taken = await env.snapshot()
  if (state === 'after a snapshot') return env
  if (state === 'restored from disk') {
    await env.pause({ release: true })
    const later = await (await home.open()).get(env.id)
    await later.resume()
    return later
  }
  const [copy] = await taken.fork(1)
  await env.remove()
  if (copy === undefined) throw new Error('the fork is missing')
  return copy
}

/**
 * Takes an environment through the states and calls `attack` in each. It may have been made in any
 * way, even by an older release.
 *
 * From disk means that no process that knew the environment is left: its own have ended, and another
 * Forkpoint brings it back.
 */
export async function inEveryState(
  home: TestHome,
  env: Environment,
  attack: (env: Environment, state: State) => Promise<void>,
): Promise<void> {
  await attack(env, 'fresh')
  const taken = await env.snapshot()
  await attack(env, 'after a snapshot')
  const [copy] = await taken.fork(1)
  if (copy === undefined) throw new Error('the fork is missing')
  await attack(copy, 'in a fork')
  await copy.remove()
  await env.pause({ release: true })
  const later: Forkpoint = await home.open()
  const back = await later.get(env.id)
  await back.resume()
  await attack(back, 'restored from disk')
}
