// Environments and snapshots that were made on ext4 move to btrfs with their next life.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { placesOf } from '../../src/backends/native/places.ts'
import { type Environment, Forkpoint } from '../../src/index.ts'
import { unless } from '../support/evidence.ts'
import { expectNothing } from '../support/remains.ts'
import { TestHome } from '../support/test-home.ts'
import { expectTidy } from '../support/tidiness.ts'
import { volumeKind } from '../support/volume-kind.ts'

const home = new TestHome('moving', { 'spares.count': 0 })
afterAll(() => home[Symbol.asyncDispose]())
afterEach(async () => {
  await home.removeAll()
  await expectNothing(home)
})

/** Two snapshots and what came later, with a running program, on ext4. */
async function makeOld(): Promise<void> {
  await using old = await home.open({ volume: 'ext4' })
  const env = await old.create({ name: 'web' })
  await env.exec('chmod 751 /; chown 0:7 /; cd /srv; echo one > a; ln a b; rm -r /opt; X=first')
  await env.exec('(while sleep 0.1; do echo tick >> /root/ticks; done) & job=$!')
  await env.snapshot({ name: 'first' })
  await env.exec('echo two > c; rm b; X=second')
  await env.snapshot({ name: 'second' })
  await env.exec('X=later; echo later > c')
  expect(existsSync(placesOf(home.path).filesVolume)).toBe(false)
}

const look =
  'echo $X $(ls /srv) $(cat /srv/a /srv/c 2>&-) $(stat -c "%a %g" /) $(ls -d /opt 2>&-); kill -0 $job'
const first = 'first a b one 751 7\n'
const second = 'second a c one two 751 7\n'
const later = 'later a c one later 751 7\n'

const stateOf = async (env: Environment) => (await env.exec(look)).stdout

async function expectTicking(env: Environment): Promise<void> {
  const ticks = async () => Number((await env.exec('wc -l < /root/ticks')).stdout)
  const before = await ticks()
  await expect.poll(ticks).toBeGreaterThan(before)
}

describe('an environment on ext4', unless(volumeKind === 'ext4' ? 'no btrfs here' : null), () => {
  test('moves with a restore, and its next snapshots are in place', async () => {
    await makeOld()
    await using fp = await home.open()
    const env = await fp.get('web')
    expect(await stateOf(env)).toBe(later)
    await env.restore('second')
    expect(await stateOf(env)).toBe(second)
    await expectTicking(env)
    await env.exec('X=moved; echo moved > c')
    const taken = await env.snapshot({ name: 'third' })
    expect(taken.lastInfo.original).toBe('kept')
    for (const [name, state] of [
      ['first', first],
      ['third', 'moved a c one moved 751 7\n'],
      ['second', second],
    ] as const) {
      await env.restore(name)
      expect(await stateOf(env)).toBe(state)
      await expectTicking(env)
    }
    const { changes } = await (await fp.snapshot('second')).diff(taken)
    expect(changes.map(({ path, kind }) => `${kind} ${path}`)).toContain('modified /srv/c')
    await expectTidy(home, fp)
  })

  test('moves with a fork of its snapshot, and needs the layers that it began with', async () => {
    await makeOld()
    await using fp = await home.open()
    const [fork] = await (await fp.snapshot('first')).fork(1, { name: 'branch' })
    if (!fork) throw new Error('no fork')
    expect(await stateOf(fork)).toBe(first)
    const taken = await fork.snapshot()
    expect(taken.lastInfo.original).toBe('kept')
    await (await fp.get('web')).remove()
    await expect((await fp.snapshot('first')).remove()).rejects.toThrow('still needed')
    const [copy] = await taken.fork()
    expect(copy && (await stateOf(copy))).toBe(first)
    await expectTidy(home, fp)
  })

  test('moves with its next snapshot, and doctor counts what is left', async () => {
    await makeOld()
    await using fp = await home.open()
    const env = await fp.get('web')
    const filesOf = async () => {
      const { checks } = await Forkpoint.doctor({ settings: { home: home.path } })
      return checks.find(({ name }) => name === 'files')?.found
    }
    expect(await filesOf()).toMatch(/; 1 environment and 2 snapshots still on ext4/)
    expect((await env.snapshot()).lastInfo.original).toBe('replaced')
    expect(await filesOf()).toMatch(/; 0 environments and 3 snapshots still on ext4/)
    expect((await env.snapshot()).lastInfo.original).toBe('kept')
    expect(await stateOf(env)).toBe(later)
    await expectTicking(env)
  })
})

test('a home that is told to stay on ext4 does', async () => {
  await makeOld()
  await using fp = await home.open({ volume: 'ext4' })
  const env = await fp.get('web')
  await env.restore('second')
  expect(await stateOf(env)).toBe(second)
  expect((await env.snapshot()).lastInfo.original).toBe('replaced')
  expect(existsSync(join(home.path, 'volume.btrfs'))).toBe(false)
})
