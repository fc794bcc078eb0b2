import { mkdirSync, writeFileSync } from 'node:fs'
import { setImmediate as immediately } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { placesOf } from '../../src/backends/native/places.ts'
import { BackendError, type Forkpoint } from '../../src/index.ts'
import { killCriu, whenPassed } from '../support/criu-process.ts'
import { TestHome } from '../support/test-home.ts'
import { volumeKind } from '../support/volume-kind.ts'
import { run } from '../support/workloads/run.ts'

/** Makes the last step of the next snapshot fail: that of a successor, or of its images. */
function failLastStep(home: TestHome, fp: Forkpoint): Promise<void> {
  return volumeKind === 'ext4' ? killCriu('restore', whenPassed(0)) : obstruct(home, fp)
}

/** A file is where the snapshot keeps the pages of its processes. */
async function obstruct(home: TestHome, fp: Forkpoint): Promise<void> {
  for (;;) {
    const [draft] = await fp.snapshots({ status: 'writing' })
    if (draft !== undefined) {
      const { pages, snapshot } = placesOf(home.path)
      mkdirSync(snapshot(draft.id), { recursive: true })
      writeFileSync(pages(draft.id), '')
      return
    }
    await immediately()
  }
}

const preparation = `
mkdir /root/work; cd /root/work; x=kept
echo content > one; exec 5<> one; ln one other; rm one
echo 1 > pair; ln pair twin; exec 6>> log
sleep 1000 &
`
// Where a snapshot replaces the original, the end of it is a restore.
const look =
  'pwd; echo $x; stat -c "%n %h %s" *; stat -L -c %h /proc/$$/fd/5; cat other twin log; jobs'

test('a snapshot that fails at the very end goes unnoticed inside', {
  retry: 5,
}, async () => {
  await using home = new TestHome('failed', { 'spares.count': 0, volume: 'ext4' })
  const fp = await home.open()
  const env = await fp.create()
  await run(env, preparation)
  const base = await env.snapshot()
  await run(env, 'echo 2 >> pair; echo line >&6')
  const before = await run(env, look)
  const failing = failLastStep(home, fp)
  await expect(env.snapshot()).rejects.toBeInstanceOf(BackendError)
  await failing
  expect((await env.info()).head).toBe(base.id)
  expect(await run(env, look)).toBe(before)
  await run(env, 'echo 3 >> twin; cmp pair twin; rm twin; ln pair twin; ln other one; rm one')
  const after = await run(env, look)
  await env.snapshot()
  expect(await run(env, look)).toBe(after)
})

const nesting = `
import os
os.chdir('/root/work')
for depth in range(40):
    os.mkdir('d' * 200); os.chdir('d' * 200)
open('deep', 'w').close()
`

test('even if a tree inside is deeper than the longest path', { retry: 5 }, async () => {
  await using home = new TestHome('failed-deep', { 'spares.count': 0, volume: 'ext4' })
  const fp = await home.open()
  const env = await fp.create()
  await run(env, 'mkdir /root/work; cd /root/work; echo 1 > pair; ln pair twin')
  await env.snapshot()
  await env.files.write('/root/nesting.py', nesting)
  await run(env, 'echo 2 >> pair; python3 /root/nesting.py')
  const failing = failLastStep(home, fp)
  await expect(env.snapshot()).rejects.toThrow(
    volumeKind === 'ext4' ? 'criu restore failed' : 'EEXIST',
  )
  await failing
  expect(await run(env, 'cat twin; stat -c "%n %h" pair twin')).toBe('1\n2\npair 2\ntwin 2')
})
