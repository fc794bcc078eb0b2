import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, expect, test } from 'vitest'
import { expectRow } from '../support/client-rows.ts'
import { python, said, sdk, servePython } from './support.ts'

const home = await servePython('python')
afterAll(() => home[Symbol.asyncDispose]())

const env = { ...home.env, PYTHONPATH: join(sdk, 'src') }

/** What was tried, by its name in sdk/python/tests. */
const tried: string[] = []

/** Runs a file of sdk/python/tests; how many tests it ran. */
async function unittest(name: string): Promise<number> {
  const words = ['-W', 'error', '-m', 'unittest', '-v', `tests.${name}`]
  const output = await said(python, words, { cwd: sdk, env })
  // All of them passed, or `said` would have thrown. What one prints stands before its "ok".
  for (const [, test = ''] of output.matchAll(/^(test_\w+) .* \.\.\. (?!skipped)/gm))
    tried.push(test)
  return Number(/^Ran (\d+) tests?/m.exec(output)?.[1])
}

test.each([
  ['test_core', 8],
  ['test_sync', 8],
  ['test_async', 4],
  ['test_manager', 3],
  ['test_integrations', 6],
])('%s of the Python client passes', async (name, least) => {
  expect(await unittest(name)).toBeGreaterThanOrEqual(least)
})

test('the page of clients has what was tried', async () => {
  const version = /\d+\.\d+/.exec(await said(python, ['--version']))?.[0] ?? ''
  const works = [...new Set(tried)].sort().map((name) => name.replace(/^test_/, ''))
  expectRow({ client: 'forkpoint for Python', version, works }, 'optional')
})

/** Prints what a command prints, which ends only once somebody else lets it. */
const patient = `
from forkpoint import Forkpoint
with Forkpoint.connect() as fp, fp.create(name='patient') as env:
    line = 'echo one; until [ -e /tmp/go ]; do sleep 0.1; done; echo two'
    result = env.exec(line, on_stdout=lambda data: print(data.decode(), end='', flush=True))
    print(result.exit_code, env.exec('echo three').stdout, end='')
`

test('a command and its output outlive the daemon', async () => {
  const program = spawn(python, ['-c', patient], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const [first] = await once(program.stdout, 'data')
  expect(String(first)).toBe('one\n')
  const rest = text(program.stdout)
  await home.restart()
  await (await home.fp.get('patient')).files.write('/tmp/go', '')
  expect(await rest).toBe('two\n0 three\n')
})

test('nothing is left behind', async () => {
  expect(await home.fp.list()).toEqual([])
})
