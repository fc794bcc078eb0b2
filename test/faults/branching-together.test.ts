// Several environments and several Forkpoint processes branching at the same time.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { expectNothing } from '../support/remains.ts'
import { ended, runProgram, startProgram } from '../support/run-program.ts'
import { TestHome } from '../support/test-home.ts'
import { expectTidy } from '../support/tidiness.ts'

const home = new TestHome('together')
afterAll(() => home[Symbol.asyncDispose]())
afterEach(async () => {
  await home.removeAll()
  await expectNothing(home)
})

const well = { exitCode: 0, signal: null, stderr: '' }
const eight = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h']

describe('several Forkpoint processes on one store', () => {
  test('branch the same environment at the same time', async () => {
    await using fp = await home.open()
    const env = await fp.create({ name: 'one', net: 'nat' })
    await env.exec('X=kept')
    const branch = () => runProgram(home, ['branch', 'one', '4'])
    expect(await Promise.all([branch(), branch()])).toEqual([well, well])
    expect((await env.exec('echo $X')).stdout).toBe('kept\n')
    expect(await fp.snapshots()).toHaveLength(8)
    await expectTidy(home, fp)
  })

  test('branch different environments at the same time', async () => {
    await using fp = await home.open()
    for (const name of ['one', 'two']) await (await fp.create({ name })).exec('X=kept')
    const branches = ['one', 'two'].map((name) => runProgram(home, ['branch', name, '4']))
    expect(await Promise.all(branches)).toEqual([well, well])
    expect(await fp.list()).toHaveLength(2)
    await expectTidy(home, fp)
  })

  test('are killed at any moment without harm', async () => {
    await (await (await home.open()).create({ name: 'one', net: 'nat' })).exec('X=kept')
    for (let round = 0; round < 10; round += 1) {
      const child = startProgram(home, ['branch', 'one', '50'])
      const end = ended(child)
      // Starting takes about 400 ms, and a turn 400.
      await sleep(400 + Math.random() * 500)
      child.kill('SIGKILL')
      await end
      await using fp = await home.open()
      for (const fork of await fp.list()) if (fork.name !== 'one') await fork.remove()
      await expectTidy(home, fp)
      const env = await fp.get('one')
      expect((await env.exec('echo $X; ip route show default | cut -c1-7')).stdout).toBe(
        'kept\ndefault\n',
      )
    }
  })
})

test('labels that are set while a snapshot is written are kept', async () => {
  await using fp = await home.open()
  const env = await fp.create({ name: 'one' })
  const taking = env.snapshot({ labels: { stage: 'begun' } })
  const writing = async () => (await fp.snapshots({ status: 'writing' }))[0]
  await expect.poll(writing, { interval: 1 }).toBeDefined()
  await (await writing())?.label({ stage: 'tested' })
  expect((await taking).lastInfo.labels).toEqual({ stage: 'tested' })
})

test('eight environments take snapshots at the same time', async () => {
  await using fp = await home.open()
  const all = await Promise.all(eight.map((name) => fp.create({ name })))
  await Promise.all(all.map((env) => env.exec(`X=${env.name}; echo ${env.name} > /root/file`)))
  const taken = await Promise.all(all.map((env) => env.snapshot()))
  await Promise.all(all.map((env) => env.exec('X=lost; rm /root/file')))
  await Promise.all(all.map((env, index) => env.restore(taken[index] ?? '')))
  const said = await Promise.all(all.map((env) => env.exec('echo $X $(cat /root/file)')))
  expect(said.map(({ stdout }) => stdout)).toEqual(eight.map((name) => `${name} ${name}\n`))
  await expectTidy(home, fp)
})
