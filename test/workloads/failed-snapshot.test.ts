import { expect, test } from 'vitest'
import { BackendError } from '../../src/index.ts'
import { killCriu, whenPassed } from '../support/criu-process.ts'
import { TestHome } from '../support/test-home.ts'
import { run } from '../support/workloads/run.ts'

const preparation = `
mkdir /root/work; cd /root/work; x=kept
echo content > one; exec 5<> one; ln one other; rm one
echo 1 > pair; ln pair twin; exec 6>> log
sleep 1000 &
`
const look =
  'pwd; echo $x; stat -c "%n %h %s" *; stat -L -c %h /proc/$$/fd/5; cat other twin log; jobs'

test('a snapshot that fails after everything was taken leaves nothing to be noticed', {
  retry: 5,
}, async () => {
  await using home = new TestHome('failed', { 'spares.count': 0 })
  const fp = await home.open()
  const env = await fp.create()
  await run(env, preparation)
  const base = await env.snapshot()
  await run(env, 'echo 2 >> pair; echo line >&6')
  const before = await run(env, look)
  const killed = killCriu('restore', whenPassed(0))
  await expect(env.snapshot()).rejects.toBeInstanceOf(BackendError)
  await killed
  expect(env.head).toBe(base.id)
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

test('also where a tree inside is deeper than a path can be long', { retry: 5 }, async () => {
  await using home = new TestHome('failed-deep', { 'spares.count': 0 })
  const fp = await home.open()
  const env = await fp.create()
  await run(env, 'mkdir /root/work; cd /root/work; echo 1 > pair; ln pair twin')
  await env.snapshot()
  await env.files.write('/root/nesting.py', nesting)
  await run(env, 'echo 2 >> pair; python3 /root/nesting.py')
  const killed = killCriu('restore', whenPassed(0))
  await expect(env.snapshot()).rejects.toThrow('criu restore failed')
  await killed
  expect(await run(env, 'cat twin; stat -c "%n %h" pair twin')).toBe('1\n2\npair 2\ntwin 2')
})
