// Threads that hardly get to run are late for a freeze. What they wait for must not end because of it.
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { Environment } from '../../src/index.ts'
import { cgroupsOf } from '../support/cell-processes.ts'
import { TestHome } from '../support/test-home.ts'
import { bring, run } from '../support/workloads/run.ts'

const home = new TestHome('slow-freeze', { 'spares.count': 0 })
afterAll(() => home[Symbol.asyncDispose]())
const fp = await home.open()

/** How much of a CPU the processes get, in microseconds of every second. */
function allow(env: Environment, microseconds: number): void {
  for (const group of cgroupsOf(home, env)) {
    const v1 = (name: string) => join(group, `cpu.cfs_${name}_us`)
    const v2 = join(group, 'cpu.max')
    if (existsSync(v2)) writeFileSync(v2, `${microseconds} 1000000`)
    if (!existsSync(v1('quota'))) continue
    writeFileSync(v1('period'), '1000000')
    writeFileSync(v1('quota'), String(microseconds))
  }
}

test('a snapshot that some threads are late for ends no wait inside', async () => {
  const env = await fp.create({ limits: { cpus: 1 } })
  await run(env, `gcc -O2 -o /root/vforks ${await bring(env, 'vforks.c')}`)
  await run(env, '/root/vforks waits 600 > /root/ended 2>&1 & sleep 1')
  // So little that they need more than half a second to stop, after which they are let go.
  allow(env, 2000)
  try {
    // It may give up, but not at the expense of those that wait.
    await env.snapshot({ mode: 'filesystem' }).catch(() => {})
  } finally {
    allow(env, 1_000_000)
  }
  expect(await run(env, 'cat /root/ended')).toBe('')
  expect(await run(env, 'pgrep -fc "vforks waits"')).toBe('600')
  await env.snapshot({ mode: 'filesystem' })
  expect(await run(env, 'cat /root/ended')).toBe('')
})
