import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectNothing } from '../../support/remains.ts'
import { TemporaryDirectory } from '../../support/temporary-directory.ts'
import { CliHome, finished, untilShown } from './cli-home.ts'

describe('an environment', () => {
  test('can be created, listed, used and removed, and leaves nothing behind', async () => {
    await using cli = new CliHome()
    expect(await cli.must('create', '--name', 'web')).toMatch(/^created web \(e\w{11}\)\n$/)
    expect(await cli.must('ls')).toMatch(/^NAME .*\nweb +e\w{11} +running +native .* host\n$/)
    expect(await cli.must('exec', 'web', '--', 'hostname')).toBe('web\n')
    expect(await cli.must('rm', 'web')).toMatch(/^removed web \(e\w{11}\)\n$/)
    expect(await cli.must('ls', '--json')).toBe('[]\n')
    await expectNothing(cli.home)
  })

  test('gets the limits, variables, labels, network and directory it was created with', async () => {
    await using cli = new CliHome()
    using files = new TemporaryDirectory()
    const id = (
      await cli.must(
        ...['create', '-q', '--from', `dir:${files.path}`, '--memory', '512m', '--cpus', '1.5'],
        ...['--pids', '100', '--net', 'none', '-e', 'A=1', '-e', 'B=x=y', '--label', 'task=42'],
        ...['--workdir', '/tmp', '--net-allow', '10.0.0.0/8', '--net-allow', '192.0.2.1'],
      )
    ).trim()
    const { document } = await cli.json('ls', '--label', 'task=42')
    expect(document).toEqual([
      expect.objectContaining({
        id,
        name: null,
        status: 'running',
        backend: 'native',
        workdir: '/tmp',
        source: { kind: 'dir', path: files.path },
        limits: { memoryBytes: 512 * 2 ** 20, cpus: 1.5, pids: 100 },
        net: { mode: 'none', allow: ['10.0.0.0/8', '192.0.2.1/32'] },
        env: { A: '1', B: 'x=y' },
        labels: { task: '42' },
      }),
    ])
    expect(await cli.must('exec', id, '--', 'echo $A $B; pwd')).toBe('1 x=y\n/tmp\n')
    expect(await cli.must('ls', '-q', '--label', 'task=43')).toBe('')
  })

  test('can be paused, resumed and renamed', async () => {
    await using cli = new CliHome()
    await cli.must('create', '--name', 'web')
    expect((await cli.json('pause', 'web')).document).toMatchObject({ status: 'paused' })
    const refused = await cli.run(['exec', 'web', '--', 'true'])
    expect(refused).toMatchObject({ exitCode: 4, stderr: expect.stringContaining('is paused') })
    expect(refused.stderr).toContain('forkpoint resume web')
    expect((await cli.json('resume', 'web')).document).toMatchObject({ status: 'running' })
    expect((await cli.json('rename', 'web', 'best')).document).toMatchObject({ name: 'best' })
    expect(await cli.must('exec', 'best', '--', 'echo here')).toBe('here\n')
  })

  test('reports what it uses', async () => {
    await using cli = new CliHome()
    await cli.must('create', '--name', 'web', '--memory', '256m', '--pids', '64')
    expect(await cli.must('stats', 'web')).toMatch(
      /^memory +.* of 256 MiB\nprivate .*\nshared .*\ncpu time .*\nprocesses/,
    )
    const { document } = await cli.json('stats', 'web')
    expect(document).toMatchObject({ name: 'web', status: 'running', processLimit: 64 })
    expect(document.memoryBytes).toBeGreaterThan(0)
    const watching = cli.start(['stats', 'web', '--watch'])
    const ended = finished(watching)
    await untilShown(watching.stdout, /% of a CPU now/)
    watching.kill('SIGINT')
    const { exitCode, stdout } = await ended
    expect(exitCode).toBe(0)
    expect(stdout.match(/^memory /gm)?.length).toBeGreaterThan(1)
  })
})

describe('rm', () => {
  test('removes what it can and reports each failure', async () => {
    await using cli = new CliHome()
    await cli.must('create', '--name', 'one')
    await cli.must('create', '--name', 'two')
    const human = await cli.run(['rm', 'nosuch', 'one'])
    expect(human).toMatchObject({ exitCode: 3, stdout: expect.stringMatching(/^removed one /) })
    expect(human.stderr).toContain('no environment "nosuch"')
    const { exitCode, document } = await cli.json('rm', 'nosuch', 'two')
    expect(exitCode).toBe(3)
    expect(document).toMatchObject({
      removed: [{ name: 'two' }],
      failed: [{ reference: 'nosuch', error: { code: 'not_found' } }],
      error: { code: 'not_found' },
    })
  })

  test('--all --force removes every environment', async () => {
    await using cli = new CliHome()
    await cli.must('create')
    await cli.must('create')
    expect((await cli.run(['rm', '--all'])).exitCode).toBe(2)
    expect((await cli.json('rm', '--all', '--force')).document.removed).toHaveLength(2)
    expect(await cli.must('ls', '-q')).toBe('')
  })
})

describe('bad input', () => {
  let cli: CliHome
  beforeAll(async () => {
    cli = new CliHome()
    await cli.must('create', '--name', 'taken')
  })
  afterAll(() => cli[Symbol.asyncDispose]())

  test.each([
    [2, 'invalid_input', ['create', '--name', 'bad/name']],
    [2, 'invalid_input', ['create', '--from', 'bogus']],
    [2, 'invalid_input', ['create', '--workdir', 'relative']],
    [2, 'invalid_input', ['create', '--net-allow', '10.0.0.1/8']],
    [2, 'invalid_input', ['create', '--no-such-option']],
    [2, 'invalid_input', ['no-such-verb']],
    [2, 'invalid_input', ['rename', 'taken', '']],
    [2, 'invalid_input', ['exec', 'taken', '--timeout', 'soon', '--', 'id']],
    [2, 'invalid_input', ['shell', 'taken']],
    [3, 'not_found', ['create', '--from', 'dir:/no/such/directory']],
    [3, 'not_found', ['exec', 'nosuch', '--', 'true']],
    [3, 'not_found', ['exec', 'taken', '--attach', 'nosuch']],
    [3, 'not_found', ['cp', 'taken:/no/such/file', '.']],
    [3, 'not_found', ['cp', '/no/such/file', 'taken:/tmp']],
    [3, 'not_found', ['pause', 'nosuch']],
    [3, 'not_found', ['rm', 'nosuch']],
    [3, 'not_found', ['ls', '--config', '/no/such/file']],
    [4, 'conflict', ['create', '--name', 'taken']],
    [5, 'unsupported', ['create', '--backend', 'criu', '--from', 'rootfs:/']],
  ])('gives exit code %i and %s: %j', async (exitCode, code, args) => {
    const human = await cli.run(args)
    expect(human).toMatchObject({ exitCode, stdout: '' })
    expect(human.stderr).toMatch(/^forkpoint: /)
    expect(human.stderr).not.toContain('    at ')
    // Some verbs have no JSON; then the document is an error.
    const machine = await cli.json(...args)
    expect(machine.stderr).toBe('')
    expect(machine.document.error.message).not.toBe('')
    if (!['shell'].includes(args[0] ?? '') && !args.includes('--attach')) {
      expect(machine).toMatchObject({ exitCode, document: { error: { code } } })
    }
    expect(await cli.must('ls', '-q')).toMatch(/^e\w{11}\n$/)
  })
})
