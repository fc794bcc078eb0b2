import {
  chmodSync,
  mkdirSync,
  readdirSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { Forkpoint } from '../../src/index.ts'
import { cgroupsOf, hostPids } from '../support/cell-processes.ts'
import { expectNothing } from '../support/remains.ts'
import { TestHome } from '../support/test-home.ts'

test('an environment that was made through a link to the home is the same without the link', async () => {
  await using home = new TestHome('linked')
  const link = `${home.path}-link`
  symlinkSync(home.path, link)
  try {
    await using through = await Forkpoint.open({ settings: { home: link } })
    const env = await through.create({ name: 'linked' })
    expect((await env.exec('echo alive')).stdout).toBe('alive\n')
    await using direct = await home.open()
    const same = await direct.get('linked')
    expect((await same.exec('echo alive')).stdout).toBe('alive\n')
    await same.remove()
    await expectNothing(home)
    const second = await direct.create({ name: 'second' })
    await (await through.get(second.id)).remove()
    await expectNothing(home)
  } finally {
    rmSync(link)
  }
})

test('what was started under another name of the home is found, paused and removed', async () => {
  await using home = new TestHome('renamed')
  const fp = await home.open({ spares: 0 })
  const env = await fp.create({ name: 'older' })
  const other = { path: home.path, key: 'fedcba98' }
  moveTo(other.key, cgroupsOf(home, env), hostPids(home, env))
  expect((await env.exec('echo alive')).stdout).toBe('alive\n')
  await env.pause()
  expect((await env.info()).status).toBe('paused')
  await env.remove()
  await fp.prune()
  await expectNothing(home)
  await expectNothing(other)
})

/** As if the home had been given through a link, when keys were made from the path as given. */
function moveTo(key: string, groups: readonly string[], pids: readonly number[]): void {
  for (const group of groups) {
    const moved = join(dirname(dirname(group)), key, basename(group))
    mkdirSync(moved, { recursive: true })
    for (const pid of pids) writeFileSync(join(moved, 'cgroup.procs'), String(pid))
    rmdirSync(group)
  }
}

test('a home that others can write to is refused before anything is made in it', async () => {
  await using home = new TestHome('open')
  const path = `${home.path}/all`
  mkdirSync(path)
  const open = () => Forkpoint.open({ settings: { home: path } })
  chmodSync(path, 0o777)
  await expect(open()).rejects.toMatchObject({
    code: 'prerequisite',
    message: expect.stringContaining('can be written by everybody'),
    remedy: expect.stringContaining('chmod go-w'),
  })
  expect(readdirSync(path)).toEqual([])
})
