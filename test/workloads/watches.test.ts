// Programs that watch files keep seeing what happens to them, whatever happens to their layers.
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import type { Environment } from '../../src/index.ts'
import { forgetNames } from '../support/forget-names.ts'
import { lastDepth } from '../support/layer-lists.ts'
import { patiently } from '../support/patiently.ts'
import { TestHome } from '../support/test-home.ts'
import { volumeKind } from '../support/volume-kind.ts'
import { bring, run } from '../support/workloads/run.ts'

const home = new TestHome('watches')
afterAll(() => home[Symbol.asyncDispose]())
afterEach(() => home.removeAll())
const fp = await home.open()

/** Only on ext4 does a snapshot have layers of its own, which can be squashed. */
const layersOfOne = volumeKind === 'ext4' ? 1 : 0

/** A changed file, a deep one, one of the base, a directory and one that was there before. */
const watched = ['/root/w/file', '/root/w/deep/er/file', '/etc/passwd', '/root/w/dir', '/etc']

async function watching(program: string, name: string): Promise<Environment> {
  const env = await fp.create()
  const path = await bring(env, name)
  await run(
    env,
    'mkdir -p /root/w/dir /root/w/deep/er; cd /root/w; tee file deep/er/file < /dev/null',
  )
  await run(env, `${program} ${path} /root/log ${watched.join(' ')} > /dev/null 2>&1 &`)
  await expect.poll(() => run(env, 'cat /root/log'), patiently).toContain('ready')
  return env
}

/** Changes everything that is watched; every change is seen, in this life of the program. */
async function expectAllSeen(env: Environment, word: string): Promise<void> {
  await run(env, `: > /root/log; cd /root/w; echo ${word} | tee -a file deep/er/file > dir/${word}`)
  await run(env, `echo '# ${word}' >> /etc/passwd; echo ${word} > /etc/${word}`)
  const expected = [...watched.slice(0, 3), `/root/w/dir/${word}`, `/etc/${word}`]
  const seen = async () => [...new Set((await run(env, 'cat /root/log')).split('\n'))]
  await expect.poll(seen, patiently).toEqual(expect.arrayContaining(expected))
}

describe.each([
  ['python3', 'watch.py'],
  ['/usr/bin/node', 'watch.cjs'],
])('files that %s watches', (program, name) => {
  test('are still watched after snapshots, a squash of their layers, a restore and in forks', async () => {
    const env = await watching(program, name)
    await expectAllSeen(env, 'before')
    await env.snapshot()
    await expectAllSeen(env, 'after-snapshot')
    const compacted = await env.snapshot()
    await expectAllSeen(env, 'after-another')
    await compacted.compact()
    expect(lastDepth(home)).toBe(layersOfOne)
    await expectAllSeen(env, 'while-compacted')
    await env.restore(compacted)
    await expectAllSeen(env, 'after-restore')
    const [fork] = await compacted.fork(1)
    if (fork) await expectAllSeen(fork, 'in-fork')
    const again = await env.snapshot()
    await expectAllSeen(env, 'after-all')
    await env.restore(again)
    await expectAllSeen(env, 'at-last')
  })

  test('are still watched if the kernel has forgotten their names in the meantime', async () => {
    const env = await watching(program, name)
    await expectAllSeen(env, 'before')
    forgetNames()
    const taken = await env.snapshot()
    await expectAllSeen(env, 'after-snapshot')
    forgetNames()
    const compacted = await env.snapshot()
    await compacted.compact()
    expect(lastDepth(home)).toBe(layersOfOne)
    for (const snapshot of [compacted, taken]) {
      await env.restore(snapshot)
      await expectAllSeen(env, 'after-restore')
      const [fork] = await snapshot.fork(1)
      if (fork) await expectAllSeen(fork, 'in-fork')
    }
  })
})

test('names of thousands of watched files are found again in one go', async () => {
  const env = await fp.create()
  const path = await bring(env, 'watch.py')
  await run(
    env,
    'mkdir /srv/many; cd /srv/many; touch $(seq 2000); all=$(seq -f /srv/many/%g 2000)',
  )
  await run(env, `python3 ${path} /root/log $all > /dev/null 2>&1 &`)
  await expect.poll(() => run(env, 'cat /root/log'), patiently).toContain('ready')
  forgetNames()
  await env.snapshot()
  await run(env, 'echo changed > /srv/many/1234')
  await expect.poll(() => run(env, 'cat /root/log'), patiently).toContain('/srv/many/1234')
})

test('a symbolic link that is watched itself is still watched in forks, even if the original is gone', async () => {
  const env = await fp.create()
  const path = await bring(env, 'watch.py')
  await run(env, 'ln -s nowhere /root/link')
  await run(env, `python3 ${path} /root/log /root/link > /dev/null 2>&1 &`)
  await expect.poll(() => run(env, 'cat /root/log'), patiently).toContain('ready')
  const expectSeen = async (copy: Environment | undefined) => {
    if (!copy) throw new Error('there is no fork')
    await run(copy, ': > /root/log; touch --no-dereference /root/link')
    await expect.poll(() => run(copy, 'cat /root/log'), patiently).toBe('/root/link')
  }
  const snapshot = await env.snapshot()
  const [fork] = await snapshot.fork(1)
  await expectSeen(fork)
  await env.remove({ force: true })
  const [later] = await snapshot.fork(1)
  await expectSeen(later)
})
