import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Environment, Forkpoint } from '../../../src/index.ts'
import { identify } from '../../../src/linux/process-identity.ts'
import { TemporaryDirectory } from '../../support/temporary-directory.ts'
import { TestHome } from '../../support/test-home.ts'

/** A plan of an earlier release, which would delete `victim` and open `mine` to everybody. */
const plan = JSON.stringify([
  { do: 'put', path: '../victim', slot: 0 },
  { do: 'chmod', path: 'mine', from: 0o6777, to: 0o600 },
  { do: 'chmod', path: '/etc/passwd', from: 0o666, to: 0o600 },
])

describe('apply from a hostile environment', () => {
  let home: TestHome
  let fp: Forkpoint
  let files: TemporaryDirectory
  let env: Environment

  beforeAll(async () => {
    home = new TestHome('hostile-apply')
    fp = await home.open()
  })
  afterAll(() => home[Symbol.asyncDispose]())

  /** A directory of the host with a neighbour, and an environment that works on it. */
  async function start(): Promise<void> {
    files = new TemporaryDirectory()
    mkdirSync(files.file('w'))
    writeFileSync(files.file('w/mine'), 'mine')
    chmodSync(files.file('w/mine'), 0o640)
    writeFileSync(files.file('victim'), 'of the host')
    env = await fp.create({ from: `dir:${files.file('w')}`, net: 'none' })
  }

  async function inside(script: string): Promise<void> {
    const { exitCode, stderr } = await env.exec(script)
    expect({ exitCode, stderr: stderr.toString() }).toMatchObject({ exitCode: 0 })
  }

  async function end(): Promise<void> {
    await env.remove()
    files[Symbol.dispose]()
  }

  function expectUntouched(): void {
    expect(readFileSync(files.file('victim'), 'utf8')).toBe('of the host')
    expect(statSync(files.file('w/mine')).mode & 0o7777).toBe(0o640)
    expect(statSync('/etc/passwd').mode & 0o7777).toBe(0o644)
  }

  test.each([
    ['of no process', '0-0'],
    ['of a running process', `1-${identify(1)?.startTicks}`],
    ['of this very process', `${process.pid}-${identify(process.pid)?.startTicks}`],
  ])('a plan made inside, with the name %s, is a file like any other', async (_, owner) => {
    await start()
    try {
      const name = `.forkpoint-apply-${owner}-0123456789abcdef`
      await inside(
        `mkdir -p ${name}/old ${name}/new && cat > ${name}/plan.json <<'END'\n${plan}\nEND`,
      )
      await env.apply(files.file('w'))
      expect(readFileSync(files.file(`w/${name}/plan.json`), 'utf8').trim()).toBe(plan)
      expect(await env.apply(files.file('w'), { mode: 'plan' })).toMatchObject({ changes: [] })
      await inside('echo more > more')
      await env.apply(files.file('w'))
      expectUntouched()
      expect(readdirSync(files.file('w')).sort()).toEqual([name, 'mine', 'more'])
    } finally {
      await end()
    }
  })

  test('a pipe in place of a plan delays nobody', async () => {
    await start()
    try {
      const name = '.forkpoint-apply-0-0-0123456789abcdef'
      await inside(`mkdir ${name} && mkfifo ${name}/plan.json`)
      await env.apply(files.file('w'))
      await inside('echo more > more')
      expect(await env.apply(files.file('w'))).toMatchObject({ changes: [{ kind: 'added' }] })
      expectUntouched()
    } finally {
      await end()
    }
  })

  test('a setuid file of the host is no longer setuid after the environment has replaced it', async () => {
    await start()
    try {
      await env.remove()
      chmodSync(files.file('w/mine'), 0o4755)
      env = await fp.create({ from: `dir:${files.file('w')}`, net: 'none' })
      await inside('cp mine x && echo evil > x && chmod 4755 x && mv x mine')
      await env.apply(files.file('w'))
      expect(readFileSync(files.file('w/mine'), 'utf8')).toBe('evil\n')
      expect(statSync(files.file('w/mine')).mode & 0o7777).toBe(0o755)
    } finally {
      await end()
    }
  })
})
