// SIGKILL at every step of every operation that branches. The next process to open the store must
// find each environment with its memory and files, and each ready snapshot complete.
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Environment, Forkpoint, Snapshot } from '../../src/index.ts'
import { type KillWalk, killWalks, unwalkedKillPoints } from '../support/kill-walks.ts'
import { patiently } from '../support/patiently.ts'
import { expectNothing } from '../support/remains.ts'
import { runProgram } from '../support/run-program.ts'
import { TestHome } from '../support/test-home.ts'
import { expectTidy } from '../support/tidiness.ts'

const home = new TestHome('killed')
afterAll(() => home[Symbol.asyncDispose]())

const killed = { exitCode: null, signal: 'SIGKILL' }

/** Puts a word into memory and files. */
async function remember(env: Environment, word: string): Promise<void> {
  await env.exec(`X=${word}; echo ${word} > /root/file; mkdir -p /root/${word}; echo ${word} >&7`)
}

/** Leaves a process running, and a file open under a name that it no longer has. */
const start =
  'sleep 1000 & job=$!; cd /srv; exec 7>>first; ln first second; rm first; exec 8>>third; rm third; cd'

async function expectMemoryOf(env: Environment, word: string): Promise<void> {
  const nameless = '$(tail -n 1 /proc/$$/fd/7) $(ls /srv)'
  const question = `echo $X $(cat /root/file) $(ls -d /root/${word}) ${nameless} $(kill -0 $job && echo alive)`
  const { stdout, stderr } = await env.exec(question)
  expect(stdout, `${env.name}: ${stderr}`).toBe(
    `${word} ${word} /root/${word} ${word} second alive\n`,
  )
}

async function addressOf(env: Environment): Promise<string> {
  const { stdout } = await env.exec('ip -4 -o addr show eth0; ip route show default')
  return stdout
}

let address = ''

/** An environment that is further than its snapshot `gold`, and another that is further still. */
beforeEach(async () => {
  await using fp = await home.open()
  const env = await fp.create({ name: 'victim', net: 'nat' })
  await env.exec(start)
  await remember(env, 'old')
  const gold = await env.snapshot({ name: 'gold' })
  await remember(env, 'new')
  address = await addressOf(env)
  const [winner] = await gold.fork(1, { name: 'winner' })
  if (winner) await remember(winner, 'won')
})

afterEach(async () => {
  await home.removeAll()
  await expectNothing(home)
})

/** What each snapshot holds: `gold`, or what its environment was when the operation began. */
function wordOf(snapshot: Snapshot, victim: Environment): string {
  if (snapshot.name === 'gold') return 'old'
  return snapshot.lastInfo.environmentId === victim.id ? 'new' : 'won'
}

async function expectEverySnapshotWhole(fp: Forkpoint, victim: Environment): Promise<void> {
  for (const snapshot of await fp.snapshots()) {
    if (!snapshot.lastInfo.captured.includes('processes')) continue
    await victim.restore(snapshot)
    await expectMemoryOf(victim, wordOf(snapshot, victim))
    expect(await addressOf(victim)).toBe(address)
  }
}

async function expectAllWell(words: { victim: string; winner: string }): Promise<void> {
  await using fp = await home.open()
  await expectTidy(home, fp)
  const environments = await fp.list()
  expect(environments.map(({ name }) => name)).toEqual(['victim', 'winner'])
  for (const env of environments) {
    if ((await env.info()).status === 'released') await env.resume()
    expect((await env.info()).status).toBe('running')
    await expectMemoryOf(env, words[env.name as 'victim' | 'winner'])
  }
  const victim = await fp.get('victim')
  await expectEverySnapshotWhole(fp, victim)
  await expectTidy(home, fp)
}

async function die(walk: KillWalk, args: readonly string[], point: string): Promise<void> {
  const ended = await runProgram(home, [walk, ...args], { FORKPOINT_KILL_AT: point })
  expect(ended, `${point} was never reached: ${ended.stderr}`).toMatchObject(killed)
}

describe('a snapshot that is killed', () => {
  test.each(killWalks.snapshot)('at %s leaves the environment as it was', async (point) => {
    await die('snapshot', ['victim'], point)
    await expectAllWell({ victim: 'new', winner: 'won' })
    await using fp = await home.open()
    const expected = point === 'snapshot:committed' ? 2 : 1
    const taken = await fp.snapshots({ environment: 'victim' })
    expect(taken).toHaveLength(expected)
    const durable = () =>
      Promise.all(taken.map(async (snapshot) => (await snapshot.info()).durable))
    await expect.poll(durable, patiently).not.toContain(false)
  })

  test.each(killWalks['snapshot-live'])(
    'while memory is copied, at %s leaves the environment as it was',
    async (point) => {
      await die('snapshot-live', ['victim'], point)
      await expectAllWell({ victim: 'new', winner: 'won' })
    },
  )

  test.each(killWalks['snapshot-files'])(
    'of files, at %s leaves the files as they were',
    async (point) => {
      await die('snapshot-files', ['victim'], point)
      await expectAllWell({ victim: 'new', winner: 'won' })
    },
  )
})

describe('a pause that releases memory and is killed', () => {
  test.each(killWalks.release)('at %s leaves the environment, or its snapshot', async (point) => {
    await die('release', ['victim'], point)
    await expectAllWell({ victim: 'new', winner: 'won' })
  })
})

describe('a resume from a snapshot that is killed', () => {
  test.each(killWalks.resume)('at %s can be done again', async (point) => {
    expect((await runProgram(home, ['release', 'victim'])).stderr).toBe('')
    await die('resume', ['victim'], point)
    // An address that was freed may belong to another environment by then.
    const fp = await home.open()
    const victim = await fp.get('victim')
    if ((await victim.info()).status === 'released') await victim.resume()
    address = await addressOf(victim)
    await fp.close()
    await expectAllWell({ victim: 'new', winner: 'won' })
  })
})

describe('a restore that is killed', () => {
  test.each(killWalks.restore)('at %s leaves the old one, or the new one', async (point) => {
    await die('restore', ['victim', 'gold'], point)
    const victim = point === 'restore:committed' ? 'old' : 'new'
    await expectAllWell({ victim, winner: 'won' })
  })
})

describe('a promotion that is killed', () => {
  test.each(killWalks.promote)('at %s leaves both environments whole', async (point) => {
    await die('promote', ['winner', 'victim'], point)
    const victim = point === 'promote:committed' ? 'won' : 'new'
    await expectAllWell({ victim, winner: 'won' })
  })
})

describe('a fork that is killed', () => {
  test.each(killWalks.fork)('at %s leaves no half-made environment', async (point) => {
    await die('fork', ['gold'], point)
    await using fp = await home.open()
    // One of the two may have been complete.
    for (const env of await fp.list()) {
      if (env.name !== null) continue
      await expectMemoryOf(env, 'old')
      await env.remove()
    }
    await expectAllWell({ victim: 'new', winner: 'won' })
  })
})

test('every kill point is one that an operation passes', () => {
  expect(unwalkedKillPoints()).toEqual([])
})
