import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'

const crash = resolve(import.meta.dirname, '../../../src/cli/crash.ts')
const script = `import { crash } from '${crash}'
process.on('uncaughtException', crash)
Promise.reject(new Error('nobody waited for this'))
setTimeout(() => {}, 60_000)`

function run(env: Record<string, string>) {
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', script]
  return spawnSync(process.execPath, args, { env: { ...process.env, ...env }, encoding: 'utf8' })
}

test('an error that no command waited for ends the program with a message and no stack', () => {
  const { status, stderr } = run({ FORKPOINT_DEBUG: '' })
  expect(status).toBe(1)
  expect(stderr).toMatch(/^forkpoint: internal error: nobody waited for this\n {2}remedy: .*\n$/)
})

test('FORKPOINT_DEBUG shows where it came from', () => {
  expect(run({ FORKPOINT_DEBUG: '1' }).stderr).toContain('    at ')
})
