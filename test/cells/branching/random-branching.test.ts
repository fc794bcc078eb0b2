import { afterAll, expect, test } from 'vitest'
import type { Environment, Snapshot } from '../../../src/index.ts'
import { isLoopBack } from '../../support/loop-back.ts'
import { TestHome } from '../../support/test-home.ts'

const home = new TestHome('random-branching')
afterAll(() => home[Symbol.asyncDispose]())
const fp = await home.open()

/** The loop-back adds only the way that words take. */
const seconds = Number(process.env.FORKPOINT_TEST_SECONDS ?? (isLoopBack ? 8 : 20))
const mostEnvironments = 6

/** An environment, or a snapshot, and the number that its memory and its files should hold. */
interface Known<T> {
  readonly at: T
  value: number
}

/** What the shell's memory, a file, its jobs and its directory say. */
async function verify({ at, value }: Known<Environment>): Promise<void> {
  const { stdout } = await at.exec('echo $x $(cat /root/f) $(jobs -p | wc -l) $PWD')
  expect(stdout).toBe(`${value} ${value} 2 /root\n`)
}

async function make(): Promise<Known<Environment>> {
  const at = await fp.create()
  await at.exec('x=0; cd /root; echo 0 > f; (while :; do sleep 0.05; done) & sleep 500 &')
  return { at, value: 0 }
}

test('whatever is done in whatever order, memory and files are what they should be', async () => {
  const environments = [await make(), await make()]
  const snapshots: Known<Snapshot>[] = []
  const any = <T>(list: readonly T[]) => list[Math.floor(Math.random() * list.length)]
  const take = async (env: Known<Environment>) => {
    snapshots.push({ at: await env.at.snapshot(), value: env.value })
  }

  const actions: Record<string, (env: Known<Environment>) => Promise<void>> = {
    write: async (env) => {
      env.value = Math.floor(Math.random() * 1e6)
      await env.at.exec(`x=${env.value}; echo ${env.value} > /root/f`)
    },
    snapshot: take,
    restore: async (env) => {
      const snapshot = any(snapshots)
      if (!snapshot) return
      await env.at.restore(snapshot.at)
      env.value = snapshot.value
    },
    fork: async () => {
      const snapshot = any(snapshots)
      if (!snapshot || environments.length >= mostEnvironments) return
      for (const at of await snapshot.at.fork(2)) environments.push({ at, value: snapshot.value })
    },
    promote: async (env) => {
      const winner = any(environments)
      if (!winner || winner === env) return
      await env.at.promote(winner.at)
      env.value = winner.value
    },
    pause: async (env) => {
      await env.at.pause()
      await env.at.resume()
    },
    release: async (env) => {
      await env.at.pause({ release: true })
      await env.at.resume()
    },
    everyone: async () => {
      await Promise.all(environments.map(take))
    },
    remove: async (env) => {
      if (environments.length <= 2) return
      environments.splice(environments.indexOf(env), 1)
      await env.at.remove()
    },
  }

  const done: string[] = []
  const end = Date.now() + seconds * 1000
  // On a busy machine, few steps fit into the time.
  while (Date.now() < end || done.length <= 10) {
    const [name, act] = any(Object.entries(actions)) ?? ['', async () => {}]
    const env = any(environments)
    if (!env) throw new Error('no environment is left')
    done.push(name)
    try {
      await act(env)
      for (const each of environments) await verify(each)
    } catch (error) {
      throw new Error(`after ${done.slice(-10).join(', ')}`, { cause: error })
    }
  }
}, 180_000)
