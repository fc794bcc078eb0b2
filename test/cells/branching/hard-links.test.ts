import { afterAll, afterEach, expect, test } from 'vitest'
import { TestHome } from '../../support/test-home.ts'

const home = new TestHome('hard-links')
afterAll(() => home[Symbol.asyncDispose]())
afterEach(() => home.removeAll())
const fp = await home.open()

test('a file that was changed under one name is changed under its other names after a snapshot', async () => {
  const env = await fp.create()
  await env.exec('mkdir /srv/links; cd /srv/links; echo one > a; ln a b; ln a c')
  await env.snapshot()
  await env.exec('cd /srv/links; echo two >> a; rm c')
  await env.snapshot()
  const { stdout } = await env.exec('cd /srv/links; cat b; stat -c %h a b; ls')
  expect(stdout).toBe('one\ntwo\n2\n2\na\nb\n')
})

test('the same holds for hard links of the base, and in forks', async () => {
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
