import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { findCriu } from '../../src/backends/native/criu.ts'
import { BackendError, Forkpoint } from '../../src/index.ts'
import { TemporaryDirectory } from '../support/temporary-directory.ts'
import { TestHome } from '../support/test-home.ts'
import { run } from '../support/workloads/run.ts'

/** A CRIU that dumps, and never gets a restore done. */
function halfCriu(path: string): string {
  const command = findCriu(Forkpoint.settings().settings)
  const words = command.map((word) => `'${word}'`).join(' ')
  const refuse = 'case " $* " in *" restore "*) exit 1 ;; esac'
  writeFileSync(path, `#!/bin/sh\n${refuse}\nexec ${words} "$@"\n`, { mode: 0o755 })
  return path
}

const preparation = `
mkdir /root/work; cd /root/work; x=kept
echo content > one; exec 5<> one; ln one other; rm one
echo 1 > pair; ln pair twin; exec 6>> log
sleep 1000 &
`
const look =
  'pwd; echo $x; stat -c "%n %h %s" *; stat -L -c %h /proc/$$/fd/5; cat other twin log; jobs'

test('a snapshot that fails after everything was taken leaves nothing to be noticed', async () => {
  using files = new TemporaryDirectory()
  await using home = new TestHome('failed')
  const whole = await home.open()
  const broken = await home.open({ criu: halfCriu(files.file('criu')) })
  const env = await whole.create()
  await run(env, preparation)
  const base = await env.snapshot()
  await run(env, 'echo 2 >> pair; echo line >&6')
  const before = await run(env, look)
  const sameOne = await broken.get(env.id)
  await expect(sameOne.snapshot()).rejects.toBeInstanceOf(BackendError)
  expect(sameOne.head).toBe(base.id)
  expect(await run(env, look)).toBe(before)
  await run(env, 'echo 3 >> twin; cmp pair twin; rm twin; ln pair twin; ln other one; rm one')
  const after = await run(env, look)
  await env.snapshot()
  expect(await run(env, look)).toBe(after)
})
