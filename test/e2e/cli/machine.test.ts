import { chmodSync, chownSync, copyFileSync, cpSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { TemporaryDirectory } from '../../support/temporary-directory.ts'
import { CliHome, cliNode, cliProgram } from './cli-home.ts'

const nobody = ['setpriv', '--reuid', '65534', '--regid', '65534', '--clear-groups']

/** The program in a place where everybody can start it: only root may have access to the runtime and checkout. */
const open = new TemporaryDirectory()
afterAll(() => open[Symbol.dispose]())
chmodSync(open.path, 0o755)
copyFileSync(process.execPath, open.file('node'))
cpSync(dirname(cliProgram), open.file('dist'), { recursive: true })
copyFileSync(resolve(cliProgram, '../../package.json'), open.file('package.json'))
const [, ...flags] = cliNode.slice(0, -1)
const openCommand = [open.file('node'), ...flags, open.file('dist/cli.cjs')]
const asNobody = { command: [...nobody, ...openCommand], env: { HOME: '/nonexistent' } }

describe('doctor', () => {
  test('probes this machine and finds it ready', async () => {
    await using cli = new CliHome()
    const { exitCode, document } = await cli.json('doctor')
    expect(exitCode).toBe(0)
    expect(document.ok).toBe(true)
    for (const check of document.checks) {
      expect(check).toMatchObject({ name: expect.any(String), found: expect.any(String) })
      expect(['ok', 'warn']).toContain(check.status)
    }
    expect(await cli.must('doctor')).toMatch(/^ok {4}root +uid 0\n/)
  })

  test('--fix bootstraps first and still prints one document', async () => {
    await using cli = new CliHome()
    const { exitCode, document } = await cli.json('doctor', '--fix')
    expect(exitCode).toBe(0)
    expect(document.ok).toBe(true)
  })

  test('reports a CRIU that cannot dump, and ends', async () => {
    await using cli = new CliHome()
    const broken = open.file('broken-criu')
    const script = '#!/bin/sh\n[ "$1" = --version ] && echo Version: 4.2.1 && exit\nexit 1\n'
    writeFileSync(broken, script, { mode: 0o755 })
    const ran = await cli.run(['doctor'], { env: { FORKPOINT_CRIU: broken } })
    expect(ran.exitCode).toBe(6)
    expect(ran.stdout).toMatch(/^fail .*criu/im)
  })

  test('fails with exit code 6 without root', async () => {
    await using cli = new CliHome()
    const ran = await cli.run(['doctor'], asNobody)
    expect(ran.exitCode).toBe(6)
    expect(ran.stdout).toContain('fail  root  uid 65534\n      remedy: run it with sudo\n')
  })
})

describe('without root', () => {
  test.each([['ls'], ['create'], ['exec', 'web', '--', 'true']])(
    '%s fails with exit code 6 and says that it needs root',
    async (...args) => {
      await using cli = new CliHome()
      const ran = await cli.run(args, asNobody)
      expect(ran).toMatchObject({ exitCode: 6, stdout: '' })
      expect(ran.stderr).toContain('remedy: run it with sudo')
    },
  )

  test('users can open their own home, and need root only to create an environment', async () => {
    using own = new TemporaryDirectory()
    chownSync(own.path, 65534, 65534)
    await using cli = new CliHome()
    const env = { ...asNobody.env, FORKPOINT_HOME: own.path }
    const listed = await cli.run(['ls', '--json'], { ...asNobody, env })
    expect(listed).toMatchObject({ exitCode: 0, stdout: '[]\n', stderr: '' })
    const made = await cli.run(['create'], { ...asNobody, env })
    expect(made).toMatchObject({ exitCode: 6, stdout: '' })
    expect(made.stderr).toContain('must run as root')
    expect(made.stderr).toContain('remedy: run it with sudo')
  })

  test('help, version and configuration work', async () => {
    await using cli = new CliHome()
    for (const args of [['--help'], ['--version'], ['config'], ['completion', 'bash']]) {
      const ran = await cli.run(args, asNobody)
      expect(ran).toMatchObject({ exitCode: 0, stderr: '' })
    }
  })
})

describe('names for completion', () => {
  test('are those of the environments, or their ids if they have no name', async () => {
    await using cli = new CliHome()
    await cli.must('create', '--name', 'web')
    const id = await cli.must('create', '-q')
    expect(await cli.must('__complete')).toBe(`web\n${id}`)
  })

  test('are an empty list, without an error, if the home cannot be opened', async () => {
    await using cli = new CliHome()
    const ran = await cli.run(['__complete', '--config', '/no/such/file'])
    expect(ran).toMatchObject({ exitCode: 0, stdout: '', stderr: '' })
  })
})

test('the launcher runs the same command line', async () => {
  await using cli = new CliHome()
  const launcher = resolve(import.meta.dirname, '../../../forkpoint')
  const ran = await cli.run(['ls', '--json'], { command: [launcher] })
  expect(ran).toMatchObject({ exitCode: 0, stdout: '[]\n' })
})

test('an error shows its stack only with FORKPOINT_DEBUG', async () => {
  await using cli = new CliHome()
  expect((await cli.run(['pause', 'nosuch'])).stderr).not.toContain('    at ')
  const debug = await cli.run(['pause', 'nosuch'], { env: { FORKPOINT_DEBUG: '1' } })
  expect(debug.stderr).toContain('    at ')
})

test('an interrupted create leaves nothing behind', async () => {
  await using cli = new CliHome()
  for (const afterMs of [60, 120, 180]) {
    const child = cli.start(['create'])
    setTimeout(() => child.kill('SIGINT'), afterMs)
    await new Promise((done) => child.once('close', done))
  }
  const { document } = await cli.json('ls')
  for (const info of document) expect(info.status).toBe('running')
})
