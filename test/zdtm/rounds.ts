// What is done to an environment while the programs in it wait, and in which environments they are asked then.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Environment } from '../../src/index.ts'

export const roundNames = [
  'undisturbed',
  'fork',
  'three snapshots',
  'release and resume',
  'restore',
] as const

export type RoundName = (typeof roundNames)[number]

/** The rounds in which something is done. */
export const copyingRounds = roundNames.filter((name) => name !== 'undisturbed')

/** Where programs are asked. */
export interface Asked {
  readonly where: string
  readonly env: Environment
}

/** A snapshot was reported as taken, and nothing can be made from it. */
export class LostError extends Error {}

/** Some programs fail by themselves after a while. They must not be blamed on a copy. */
const aboutAsLongMs = 8000

type Act = (env: Environment) => Promise<Asked[]>

export const rounds: Readonly<Record<RoundName, Act>> = {
  undisturbed: async (env) => {
    await sleep(aboutAsLongMs)
    return [{ where: 'undisturbed', env }]
  },

  fork: async (env) => {
    const snapshot = await env.snapshot()
    const [fork] = await made(() => snapshot.fork())
    return [{ where: 'original', env }, ...asked('fork', fork)]
  },

  'three snapshots': async (env) => {
    await env.snapshot()
    await env.snapshot()
    const snapshot = await env.snapshot()
    const [fork] = await made(() => snapshot.fork())
    return [{ where: 'original', env }, ...asked('fork of the third', fork)]
  },

  'release and resume': async (env) => {
    await env.pause({ release: true })
    await made(() => env.resume())
    return [{ where: 'resumed', env }]
  },

  restore: async (env) => {
    const snapshot = await env.snapshot()
    await made(() => env.restore(snapshot))
    return [{ where: 'restored', env }]
  },
}

function asked(where: string, env: Environment | undefined): Asked[] {
  return env === undefined ? [] : [{ where, env }]
}

async function made<T>(make: () => Promise<T>): Promise<T> {
  try {
    return await make()
  } catch (error) {
    throw new LostError(error instanceof Error ? error.message : String(error), { cause: error })
  }
}
