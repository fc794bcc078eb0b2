import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { dumpsEnded } from '../../../src/criu/dumps-ended.ts'
import { Spawner } from '../../../src/linux/spawner.ts'
import { toolsOf } from '../../../src/linux/tools.ts'
import { TemporaryDirectory } from '../../support/temporary-directory.ts'

test('we wait exactly as long as a dump holds its directory', async () => {
  using spawner = new Spawner()
  using images = new TemporaryDirectory()
  await dumpsEnded(toolsOf(spawner), images.path)
  const script = 'echo locked; exec cat'
  const dump = spawn('flock', ['--no-fork', images.path, 'sh', '-c', script], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  await once(dump.stdout, 'data')
  let waits = true
  const ended = dumpsEnded(toolsOf(spawner), images.path).then(() => {
    waits = false
  })
  await new Promise((resolve) => setTimeout(resolve, 300))
  expect(waits).toBe(true)
  dump.stdin.end()
  await ended
})
