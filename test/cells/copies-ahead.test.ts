// Copies of snapshots that are made before anybody needs them, so that a fork need not wait for the disk.
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { placesOf } from '../../src/backends/native/places.ts'
import { patiently } from '../support/patiently.ts'
import { expectNothing } from '../support/remains.ts'
import { TestHome } from '../support/test-home.ts'
import { volumeKind } from '../support/volume-kind.ts'

const home = new TestHome('ahead', { 'spares.count': 0 })
afterAll(() => home[Symbol.asyncDispose]())

const { files } = placesOf(home.path)

/** The snapshots that have one, by name of the subvolume. */
function copied(): string[] {
  const names = readdirSync(files).filter((name) => name.endsWith('.ahead'))
  return names.map((name) => name.replace('.ahead', ''))
}

test('the newest snapshots have a copy, which the next fork takes and which goes with them', async (context) => {
  if (volumeKind !== 'btrfs') context.skip('this machine has no btrfs')
  await using fp = await home.open()
  const env = await fp.create()
  const taken: string[] = []
  for (let word = 0; word < 6; word += 1) {
    await env.exec(`echo ${word} > /root/word`)
    taken.push((await env.snapshot({ mode: 'filesystem', durable: true })).id)
    await expect.poll(copied, patiently).toContain(taken.at(-1))
  }
  await expect.poll(() => copied().sort(), patiently).toEqual(taken.slice(-4).sort())

  const last = taken.at(-1) ?? ''
  // Each subvolume has a device number of its own.
  const { dev } = statSync(join(files, `${last}.ahead`))
  const [fork] = await (await fp.snapshot(last)).fork(1)
  if (fork === undefined) throw new Error('no fork')
  const lives = readdirSync(files).filter((name) => name.startsWith(fork.id))
  expect(lives.map((name) => statSync(join(files, name)).dev)).toEqual([dev])
  expect((await fork.exec('cat /root/word')).stdout).toBe('5\n')
  await fork.exec('echo other > /root/word')
  await expect.poll(copied, patiently).toContain(last)
  const [again] = await (await fp.snapshot(last)).fork(1)
  expect((await again?.exec('cat /root/word'))?.stdout).toBe('5\n')

  for (const each of await fp.list()) await each.remove()
  await fp.prune()
  await expectNothing(home)
})
