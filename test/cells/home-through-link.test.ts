import { chmodSync, mkdirSync, readdirSync, rmSync, symlinkSync } from 'node:fs'
import { expect, test } from 'vitest'
import { Forkpoint } from '../../src/index.ts'
import { expectNothing } from '../support/remains.ts'
import { TestHome } from '../support/test-home.ts'

test('an environment that was made through a link to the home is the same one without it', async () => {
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
