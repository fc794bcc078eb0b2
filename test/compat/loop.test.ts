import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { whyNoCells } from '../e2e/docs/example-home.ts'
import { python, sdk } from '../python/support.ts'
import { DaemonProcess } from '../service/support/daemon-process.ts'
import { unless } from '../support/evidence.ts'
import { root } from '../unit/docs/markdown.ts'

const run = promisify(execFile)
const node = [process.execPath, '--disable-warning=ExperimentalWarning']

/** What the fixes count with the numbers that `prepare_data.py` writes. B would count 599 without the restore. */
const answer = 'A: 91418 debug\nB: 4757 debug\nB is better\n'

describe("an agent's loop gives the same answer", unless(whyNoCells), () => {
  const daemon = new DaemonProcess()
  // Below the repository, where the packages are found that the programs import.
  const folder = join(root, 'dist/examples', `loop-${process.pid}`)
  let env: Record<string, string | undefined>

  beforeAll(async () => {
    const [, url = ''] = await daemon.start({}, '--e2b', '127.0.0.1:0')
    const fp = await daemon.connect()
    const { token } = await fp.tokens.create({ form: 'e2b' })
    cpSync(join(root, 'examples/loop'), folder, { recursive: true })
    const source = readFileSync(join(folder, 'loop.ts'), 'utf8')
    const api = pathToFileURL(join(root, 'src/index.ts')).href
    writeFileSync(join(folder, 'loop.ts'), source.replace(`'forkpoint'`, `'${api}'`))
    mkdirSync(join(folder, 'bin'))
    const words = [...node, join(root, 'src/cli/main.ts')].join(' ')
    const launcher = `#!/bin/sh\nexec ${words} "$@"\n`
    writeFileSync(join(folder, 'bin/forkpoint'), launcher, { mode: 0o755 })
    env = {
      ...process.env,
      PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
      FORKPOINT_HOME: daemon.cli.home.path,
      FORKPOINT_HOST: `unix://${daemon.socket}`,
      PYTHONPATH: join(sdk, 'src'),
      PYTHONDONTWRITEBYTECODE: '1',
      E2B_API_URL: url,
      E2B_SANDBOX_URL: url,
      E2B_API_KEY: token,
    }
  })
  afterAll(async () => {
    rmSync(folder, { recursive: true, force: true })
    await daemon[Symbol.asyncDispose]()
  })

  test.each([
    ['TypeScript', 'loop.ts', node],
    ['Python', 'loop.py', [python]],
    ['bash', 'loop.sh', ['bash']],
    ['MCP', 'mcp.ts', node],
    ["E2B's own client", 'e2b.ts', node],
  ])('in %s', async (_language, name, [program = '', ...words]) => {
    const { stdout } = await run(program, [...words, join(folder, name)], { env, timeout: 100_000 })
    expect(stdout).toBe(answer)
  })

  test('and leaves nothing', async () => {
    const fp = await daemon.connect()
    expect((await fp.list()).map(({ id }) => id)).toEqual([])
  })
})
