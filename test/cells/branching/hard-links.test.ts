import { linkSync, writeFileSync } from 'node:fs'
import { afterAll, afterEach, expect, test } from 'vitest'
import { makeSmallRootfs } from '../../support/small-rootfs.ts'
import { TemporaryDirectory } from '../../support/temporary-directory.ts'
import { TestHome } from '../../support/test-home.ts'

const home = new TestHome('hard-links')
afterAll(() => home[Symbol.asyncDispose]())
afterEach(() => home.removeAll())
const fp = await home.open()

test('a file that was changed under one name stays changed under its other names after a snapshot', async () => {
  const env = await fp.create()
  await env.exec('mkdir /root/links; cd /root/links; echo one > a; ln a b; ln a c')
  await env.snapshot()
  await env.exec('cd /root/links; echo two >> a; rm c')
  await env.snapshot()
  const { stdout } = await env.exec('cd /root/links; cat b; stat -c %h a b; ls')
  expect(stdout).toBe('one\ntwo\n2\n2\na\nb\n')
})

test('the same is true for hard links of the base, and in forks', async () => {
  const env = await fp.create()
  const names = (await env.exec('cd /usr/bin; echo perl perl5*.0')).stdout.trim().split(' ')
  const [changed = '', other = ''] = names
  await env.exec(`cd /usr/bin; echo '# changed' >> ${changed}`)
  const snapshot = await env.snapshot()
  const [fork] = await snapshot.fork()
  for (const place of [env, fork]) {
    const result = await place?.exec(`tail -n 1 /usr/bin/${other}`)
    expect(result?.stdout).toContain('# changed')
  }
})

test('the same is true for hard links of a root file system in memory', async () => {
  using files = new TemporaryDirectory('/dev/shm')
  makeSmallRootfs(files.path)
  writeFileSync(files.file('root/a'), 'one\n')
  for (const name of ['b', 'c']) linkSync(files.file('root/a'), files.file(`root/${name}`))
  const env = await fp.create({ from: `rootfs:${files.path}` })
  await env.exec('cd /root; echo two >> a')
  await env.snapshot()
  expect((await env.exec('cd /root; cat b c')).stdout).toBe('one\ntwo\none\ntwo\n')
  await env.remove()
})
