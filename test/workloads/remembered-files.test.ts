// Copies are on another device: what programs remember of files is put right, and nothing that looks like it.
import { afterAll, afterEach, expect, test } from 'vitest'
import type { Environment } from '../../src/index.ts'
import { patiently } from '../support/patiently.ts'
import { TestHome } from '../support/test-home.ts'
import { volumeKind } from '../support/volume-kind.ts'
import { bring, run, wordsOf } from '../support/workloads/run.ts'

const home = new TestHome('remembered-files')
afterAll(() => home[Symbol.asyncDispose]())
afterEach(() => home.removeAll())
const fp = await home.open()

async function changedIn(env: Environment): Promise<string[]> {
  await run(env, 'rm /root/answer; kill -USR1 $(cat /root/pid)')
  await expect.poll(() => run(env, 'ls /root'), patiently).toMatch(/^answer$/m)
  return (await run(env, 'cat /root/answer')).split('\n').filter(Boolean)
}

const deviceIn = async (env: Environment) => wordsOf(await run(env, 'stat -c %d /root'))

test('only pairs of the device and an inode of the environment get the device of a copy', async (ctx) => {
  if (volumeKind === 'ext4') ctx.skip('without btrfs, a copy has other inode numbers, too')
  const env = await fp.create()
  const path = await bring(env, 'remembers.py')
  await run(env, `python3 ${path} /root/answer > /root/said 2>&1 & echo $! > /root/pid`)
  await expect.poll(() => run(env, 'ls /root; cat /root/said'), patiently).toMatch(/^answer$/m)
  const snapshot = await env.snapshot()
  const [fork] = await snapshot.fork(1)
  if (!fork) throw new Error('there is no fork')
  expect(await deviceIn(fork)).not.toEqual(await deviceIn(env))
  const pairs = ['pair', 'pair the other way round', 'pair of a file in a layer']
  expect(await changedIn(fork)).toEqual(pairs)
  expect(await changedIn(env)).toEqual([])
})
