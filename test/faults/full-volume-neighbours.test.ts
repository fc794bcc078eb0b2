// One environment takes all blocks and inodes of the volume that it shares with others.
import { statfsSync } from 'node:fs'
import { afterAll, afterEach, expect, test } from 'vitest'
import { placesOf } from '../../src/backends/native/places.ts'
import { freeBytes } from '../support/fill-volume.ts'
import { expectNothing } from '../support/remains.ts'
import { TestHome } from '../support/test-home.ts'
import { volumeKind } from '../support/volume-kind.ts'

const home = new TestHome('full-neighbours', { 'spares.count': 0 })
afterAll(() => home[Symbol.asyncDispose]())
afterEach(async () => {
  await home.removeAll()
  await expectNothing(home)
})

const fill = `
import os
try:
    for n in range(30000):
        os.close(os.open('/root/n%d' % n, os.O_CREAT))
except OSError: pass
try:
    with open('/root/n0', 'wb', buffering=0) as f:
        while True: f.write(b'x' * 65536)
except OSError: pass
try:
    with open('/root/n0', 'ab', buffering=0) as f:
        while True: f.write(b'x' * 4096)
except OSError: pass
`

test('commands run in the neighbours of an environment that fills the volume', async () => {
  await using fp = await home.open({ 'volume.size': '300m' })
  const neighbour = await fp.create({ name: 'neighbour' })
  const fresh = await fp.create({ name: 'fresh' })
  await neighbour.exec('X=kept')
  const filler = await fp.create({ name: 'filler' })
  await filler.exec(['/usr/bin/python3', '-c', fill], { mode: 'process' })
  const { data, files } = placesOf(home.path)
  // Only ext4 has a fixed number of inodes.
  if (volumeKind === 'ext4') expect(statfsSync(data).ffree).toBe(0)
  expect(freeBytes(volumeKind === 'ext4' ? data : files)).toBeLessThan(2 ** 22)
  // In an existing shell, in a new one, in the first one of an environment, with input, and as a process.
  expect((await neighbour.exec('echo $X')).stdout).toBe('kept\n')
  expect((await neighbour.exec('echo new', { shell: 'other' })).stdout).toBe('new\n')
  expect((await fresh.exec('echo first; sleep 1000 &')).stdout).toBe('first\n')
  expect((await fresh.exec('cat', { stdin: 'given' })).stdout).toBe('given')
  expect((await fresh.exec(['echo', 'run'], { mode: 'process' })).stdout).toBe('run\n')
  for (let i = 0; i < 50; i += 1) {
    expect((await fresh.exec(`sleep 1000 & echo ${i}; (exit ${i})`)).exitCode).toBe(i)
  }
})
