// Environments and snapshots of earlier versions, made by removing from new ones what those lacked.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, expect, test } from 'vitest'
import { placesOf } from '../../src/backends/native/places.ts'
import {
  mntEntry,
  seccompEntry,
  seccompFilter,
} from '../../src/criu/images/format/criu-messages.ts'
import { decodeImage, encodeImage } from '../../src/criu/images/format/image-file.ts'
import { change, read } from '../../src/criu/images/format/schema.ts'
import { writeManifest } from '../../src/criu/manifest.ts'
import type { Environment, Snapshot } from '../../src/index.ts'
import { TestHome } from '../support/test-home.ts'

const home = new TestHome('older-environments')
afterAll(() => home[Symbol.asyncDispose]())

/** One instruction that allows everything, as a filter. */
const allowAll = Buffer.from([0x06, 0, 0, 0, 0, 0, 0xff, 0x7f])
const MS_NODEV = 4

async function withoutWalls(snapshot: Snapshot): Promise<void> {
  const place = placesOf(home.path).snapshot(snapshot.id)
  const rewrite = (name: RegExp, weaken: (entry: Uint8Array) => Uint8Array) => {
    const images = join(place, 'images')
    const file = join(images, readdirSync(images).find((image) => name.test(image)) ?? '')
    const { head, entries } = decodeImage(readFileSync(file))
    writeFileSync(file, encodeImage({ head, entries: entries.map(weaken) }))
  }
  rewrite(/^seccomp\.img$/, (entry) => {
    const filters = read(seccompEntry, entry).filters.map((each) =>
      read(seccompFilter, each).prev === undefined
        ? change(seccompFilter, each, { filter: allowAll })
        : each,
    )
    return change(seccompEntry, entry, { filters })
  })
  rewrite(/^mountpoints-\d+\.img$/, (entry) => {
    const { flags, mountpoint } = read(mntEntry, entry)
    return mountpoint === '/' ? change(mntEntry, entry, { flags: flags & ~MS_NODEV }) : entry
  })
  await writeManifest(place)
}

async function expectWalled(env: Environment): Promise<void> {
  const { stdout } = await env.exec(
    `grep ' / / ' /proc/self/mountinfo; cat /proc/1/cgroup
     python3 -c 'import socket; socket.socket(40, 1)' 2>&1 | tail -n 1; grep Seccomp: /proc/1/status`,
  )
  expect(stdout).toContain('rw,nodev')
  expect(stdout).toContain('Address family not supported')
  expect(stdout).toContain('Seccomp:\t2')
  const groups = stdout.split('\n').filter((line) => /^\d+:/.test(line))
  expect(groups.filter((line) => !line.endsWith(':/'))).toEqual([])
}

test('forks and restores from a snapshot of an earlier version are isolated as in this one', async () => {
  await using fp = await home.open({ 'spares.count': 0 })
  const env = await fp.create()
  await env.exec('X=kept; sleep 1000 &')
  const snapshot = await env.snapshot({ durable: true })
  await withoutWalls(snapshot)
  const [fork] = await snapshot.fork(1)
  if (!fork) throw new Error('no fork')
  await expectWalled(fork)
  await env.restore(snapshot)
  await expectWalled(env)
  expect((await env.exec('echo $X; jobs')).stdout).toMatch(/^kept\n.*Running/)
  // A fork of the fork is dumped from within this isolation, and keeps it.
  const [second] = await fork.fork(1)
  await expectWalled(second as Environment)
})

test('an environment that still runs from an earlier version is reported until it has a new life', async () => {
  {
    // Such environments are all on ext4, where a snapshot begins a new life.
    await using fp = await home.open({ 'spares.count': 0, volume: 'ext4' })
    await fp.create({ name: 'elder' })
  }
  const database = new DatabaseSync(join(home.path, 'db.sqlite'))
  database.exec(
    "UPDATE environments SET doc = json_remove(doc, '$.instance.ids') WHERE name = 'elder'",
  )
  database.close()
  await using fp = await home.open({ 'spares.count': 0 })
  const warned = async () =>
    (await fp.warnings()).map(({ message, remedy }) => `${message} ${remedy}`)
  expect((await warned()).filter((text) => text.includes('elder'))).toEqual([
    expect.stringContaining('forkpoint snapshot elder'),
  ])
  const [env] = (await fp.list()).filter(({ name }) => name === 'elder')
  await env?.snapshot()
  await using later = await home.open()
  expect((await later.warnings()).filter(({ message }) => message.includes('elder'))).toEqual([])
})
