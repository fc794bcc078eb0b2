import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test } from 'vitest'
import type { FilesDiff } from '../../../src/index.ts'
import { TestHome } from '../../support/test-home.ts'

const home = new TestHome('many-files')
afterAll(() => home[Symbol.asyncDispose]())
afterEach(() => home.removeAll())
const fp = await home.open({ volume: 'btrfs' })

const described = ({ changes }: FilesDiff) =>
  changes.map(({ kind, path, from }) => (from ? `${kind} ${from} ${path}` : `${kind} ${path}`))

/** More than are scanned quickly, so that btrfs is asked. */
const many = `
import os
for d in range(30):
    os.makedirs('/srv/many/%d' % d)
    for f in range(200):
        with open('/srv/many/%d/%d' % (d, f), 'w') as o: o.write('content %d of %d' % (f, d))
os.link('/srv/many/0/0', '/srv/many/0/again')
os.makedirs('/srv/tree/deep'); open('/srv/tree/deep/leaf', 'w').write('leaf')
`

test('a few changes among many files are found, between snapshots and live environments', async () => {
  const env = await fp.create()
  await env.files.write('/root/many.py', many)
  expect((await env.exec('python3 /root/many.py')).exitCode).toBe(0)
  const before = await env.snapshot()
  const work = [
    'cd /srv/many; echo more >> 0/again; rm 1/1; mv 2/2 2/two; chmod 600 3/3; mv 29 moved',
    'mv /srv/tree /srv/wood; rm -r /etc/apt; mkdir /etc/apt; echo x >> /etc/hosts; ln -sfn x 4/4',
  ].join('; ')
  expect((await env.exec(work)).exitCode).toBe(0)
  const expected = [
    'modified /etc/hosts',
    'modified /srv/many/0/0',
    'modified /srv/many/0/again',
    'deleted /srv/many/1/1',
    'renamed /srv/many/2/2 /srv/many/2/two',
    'deleted /srv/many/29',
    'mode /srv/many/3/3',
    'type /srv/many/4/4',
    'added /srv/many/moved',
    'renamed /srv/many/29/0 /srv/many/moved/0',
    'renamed /srv/tree/deep/leaf /srv/wood/deep/leaf',
  ]
  const live = described(await before.diff(env))
  expect(live).toEqual(expect.arrayContaining(expected))
  // Emptying a directory of the source counts what it had.
  expect(live.filter((line) => line.includes('/etc/apt')).length).toBeGreaterThan(0)
  expect(live.length).toBeLessThan(260)
  const after = await env.snapshot()
  expect(described(await before.diff(after))).toEqual(live)
  expect(described(await after.diff(env))).toEqual([])
  const [fork] = await before.fork(1)
  await fork?.exec('echo fork > /srv/many/5/5')
  expect(described(await before.diff(fork, { paths: ['/srv'] }))).toEqual([
    'modified /srv/many/5/5',
  ])
  // Copies that were made for a comparison are gone; others are made ahead for the next fork.
  const ahead = /\.(ahead|\d+)$/
  const copies = readdirSync(join(home.path, 'files')).filter((name) => name.includes('.'))
  expect(copies.filter((name) => !ahead.test(name))).toEqual([])
})
