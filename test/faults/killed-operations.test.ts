// SIGKILL at every step of making and removing an environment. The next process to open the store
// must repair everything without being asked.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { BackendError } from '../../src/index.ts'
import { environmentPlaces } from '../support/environment-places.ts'
import { killWalks } from '../support/kill-walks.ts'
import { expectNothing, remainsOf } from '../support/remains.ts'
import { runProgram } from '../support/run-program.ts'
import { TestHome } from '../support/test-home.ts'

const home = new TestHome('killed')
afterAll(() => home[Symbol.asyncDispose]())
afterEach(() => home.removeAll())

const killed = { exitCode: null, signal: 'SIGKILL' }

/** The name is free, and an environment of that name works. */
async function isUsable(name: string): Promise<void> {
  await using fp = await home.open()
  const env = await fp.create({ name })
  expect((await env.exec('echo works')).stdout).toBe('works\n')
  await env.remove()
  await expectNothing(home)
}

describe('a create that is killed', () => {
  test.each(killWalks.create.filter((point) => point !== 'create:finished'))(
    'at %s leaves nothing behind once the store is opened again',
    async (point) => {
      const variables = { FORKPOINT_KILL_AT: point }
      expect(await runProgram(home, ['create', 'victim', 'nat'], variables)).toMatchObject(killed)
      await using fp = await home.open()
      expect(await fp.list()).toEqual([])
      await expectNothing(home)
      await isUsable('victim')
    },
  )

  test('at create:finished leaves a running environment', async () => {
    const variables = { FORKPOINT_KILL_AT: 'create:finished' }
    expect(await runProgram(home, ['create', 'victim'], variables)).toMatchObject(killed)
    await using fp = await home.open()
    const env = await fp.get('victim')
    expect((await env.info()).status).toBe('running')
    expect((await env.exec('hostname')).stdout).toBe('victim\n')
  })

  test('leaves the other environments of the store alone', async () => {
    await using fp = await home.open()
    const bystander = await fp.create({ name: 'bystander' })
    await bystander.exec('X=kept')
    for (const point of ['create:volume', 'launch:alive'] as const) {
      await runProgram(home, ['create', 'victim', 'nat'], { FORKPOINT_KILL_AT: point })
      await using next = await home.open()
      expect((await next.list()).map(({ name }) => name)).toEqual(['bystander'])
      expect((await (await next.get('bystander')).exec('echo $X')).stdout).toBe('kept\n')
      expect(remainsOf(home).interfaces).toEqual([])
    }
  })
})

describe('a remove that is killed', () => {
  test.each(killWalks.remove)(
    'at %s is completed once the store is opened again',
    async (point) => {
      expect((await runProgram(home, ['create', 'victim', 'nat'])).stderr).toBe('')
      const variables = { FORKPOINT_KILL_AT: point }
      expect(await runProgram(home, ['remove', 'victim'], variables)).toMatchObject(killed)
      await using fp = await home.open()
      expect(await fp.list()).toEqual([])
      await expectNothing(home)
      await isUsable('victim')
    },
  )

  test('and cannot be completed does not disturb other commands', async () => {
    expect((await runProgram(home, ['create', 'stuck'])).stderr).toBe('')
    const first = await home.open()
    const { id } = await first.get('stuck')
    await first.close()
    const immovable = join(environmentPlaces(home.path, id).dir, 'immovable')
    writeFileSync(immovable, '')
    execFileSync('chattr', ['+i', immovable])
    try {
      const variables = { FORKPOINT_KILL_AT: 'remove:recorded' }
      expect(await runProgram(home, ['remove', 'stuck'], variables)).toMatchObject(killed)
      await using fp = await home.open()
      expect((await fp.list()).map(({ lastInfo }) => lastInfo.status)).toEqual(['removing'])
      const env = await fp.create({ name: 'other' })
      expect((await env.exec('echo works')).stdout).toBe('works\n')
      await env.remove()
      await expect((await fp.get('stuck')).remove()).rejects.toBeInstanceOf(BackendError)
    } finally {
      execFileSync('chattr', ['-i', immovable])
    }
    await using fp = await home.open()
    await (await fp.get('stuck')).remove()
    await expectNothing(home)
  })

  test('and whose recovery is killed too is completed by the next process', async () => {
    expect((await runProgram(home, ['create', 'victim', 'nat'])).stderr).toBe('')
    const first = { FORKPOINT_KILL_AT: 'remove:recorded' }
    const second = { FORKPOINT_KILL_AT: 'remove:processes' }
    expect(await runProgram(home, ['remove', 'victim'], first)).toMatchObject(killed)
    expect(await runProgram(home, ['create', 'other'], second)).toMatchObject(killed)
    await using fp = await home.open()
    expect(await fp.list()).toEqual([])
    await expectNothing(home)
  })
})
