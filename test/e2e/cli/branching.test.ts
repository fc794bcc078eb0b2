// Every verb of branching, as a user types it, on real environments.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TemporaryDirectory } from '../../support/temporary-directory.ts'
import { CliHome } from './cli-home.ts'

const snapshotId = /s[0-9a-z]{11}/

/** What a shell inside prints. */
const ask = async (cli: CliHome, env: string, command: string) =>
  (await cli.must('exec', env, '--', command)).trim()

describe('snapshot and restore', () => {
  test('bring back files, variables and running processes', async () => {
    await using cli = new CliHome()
    await cli.must('create', '--name', 'web')
    await cli.must('exec', 'web', '--', 'cd /srv; echo one > file; MODE=one; sleep 1000 & P=$!')
    const said = await cli.must('snapshot', 'web', '--name', 'ready', '-m', 'first steps')
    expect(said).toMatch(/^took snapshot ready \(s\w{11}\) in .*, paused for .*\n$/)
    await ask(cli, 'web', 'echo two > file; MODE=two; kill $P; cd /')
    expect(await cli.must('restore', 'web', 'ready')).toMatch(
      /^restored web .* to ready \(s\w{11}\)/,
    )
    const state = await ask(cli, 'web', 'cat file; echo $MODE $PWD; kill -0 $P && echo alive')
    expect(state).toBe('one\none /srv\nalive')
  })

  test('keep message, labels and metadata, and find a snapshot by them', async () => {
    await using cli = new CliHome()
    await cli.must('create', '--name', 'web')
    const flags = ['--label', 'stage=a', '--metadata', '{"score": 0.5}', '-m', 'why', '--durable']
    const taken = await cli.json('snapshot', 'web', '--name', 'first', ...flags)
    expect(taken.document).toMatchObject({
      name: 'first',
      status: 'ready',
      durable: true,
      message: 'why',
      parent: null,
      labels: { stage: 'a' },
      metadata: { score: 0.5 },
      captured: ['filesystem', 'processes', 'terminal'],
    })
    const second = (await cli.must('snapshot', 'web', '-q', '--mode', 'filesystem')).trim()
    expect((await cli.json('snapshots')).document).toMatchObject([
      { name: 'first', environment: 'web' },
      { id: second, parent: taken.document.id, captured: ['filesystem'] },
    ])
    expect(await cli.must('snapshots', '-q', '--label', 'stage=a')).toBe(`${taken.document.id}\n`)
    expect(await cli.must('snapshots', '-q', '--env', 'web', '--name', 'nosuch')).toBe('')
    expect(await cli.must('snapshots')).toMatch(
      /^NAME .*\nfirst .* durable .*why\ns\w{11} .*filesystem\n/,
    )
  })

  test('--no-wait leaves the work to another process', async () => {
    await using cli = new CliHome()
    await cli.must('create', '--name', 'web')
    const { document } = await cli.json('snapshot', 'web', '--name', 'later', '--no-wait')
    expect(document).toMatchObject({ name: 'later', status: 'writing' })
    const isReady = async () => {
      const [later] = (await cli.json('snapshots', '--name', 'later')).document
      return later.durable
    }
    await expect.poll(isReady, { timeout: 60_000 }).toBe(true)
    const refused = await cli.run(['snapshot', 'web', '--name', 'later', '--no-wait'])
    expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('is taken') })
  })

  test('--no-wait gives each caller the snapshot that it asked for', async () => {
    await using cli = new CliHome()
    await cli.must('create', '--name', 'web')
    const names = ['one', 'two', 'three']
    const asked = names.map((name) => cli.json('snapshot', 'web', '--name', name, '--no-wait'))
    const taken = (await Promise.all(asked)).map(({ document }) => document.name)
    expect(taken).toEqual(names)
    const status = async () =>
      (await cli.json('snapshots')).document.map((each: { durable: boolean }) => each.durable)
    await expect.poll(status, { timeout: 60_000 }).toEqual([true, true, true])
  })

  test('a snapshot outlives its environment, and makes new ones', async () => {
    await using cli = new CliHome()
    await cli.must('create', '--name', 'web')
    await ask(cli, 'web', 'X=kept; echo kept > /root/file')
    await cli.must('snapshot', 'web', '--name', 'ready')
    await cli.must('rm', 'web')
    const from = ['create', '--from', 'snapshot:ready', '--name', 'again', '--label', 'a=b']
    expect((await cli.json(...from)).document).toMatchObject({ name: 'again', labels: { a: 'b' } })
    expect(await ask(cli, 'again', 'echo $X; cat /root/file; hostname')).toBe('kept\nkept\nagain')
    const refused = await cli.run(['create', '--from', 'snapshot:ready', '--memory', '1g'])
    expect(refused).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('keeps its limits'),
    })
  })

  test('pause --release keeps only the snapshot, and resume brings everything back', async () => {
    await using cli = new CliHome()
    await cli.must('create', '--name', 'web')
    await ask(cli, 'web', 'X=kept')
    expect((await cli.json('pause', 'web', '--release')).document).toMatchObject({
      status: 'released',
    })
    expect((await cli.json('usage')).document.environments).toMatchObject([{ memoryBytes: null }])
    expect((await cli.run(['exec', 'web', '--', 'true'])).exitCode).toBe(4)
    expect((await cli.json('resume', 'web')).document).toMatchObject({ status: 'running' })
    expect(await ask(cli, 'web', 'echo $X')).toBe('kept')
  })
})

describe('a fan-out of which one fails', () => {
  const hook = 'case $FORKPOINT_NAME in *-2) echo no luck >&2; exit 3;; esac'
  const directory = '/etc/forkpoint/on-fork.d'

  test('shows what was made and what was not, or leaves nothing behind with --atomic', async () => {
    await using cli = new CliHome()
    await cli.must('create', '--name', 'web')
    await ask(
      cli,
      'web',
      `mkdir -p ${directory}; printf '#!/bin/sh\\n%s\\n' '${hook}' > ${directory}/a`,
    )
    await ask(cli, 'web', `chmod +x ${directory}/a`)
    await cli.must('snapshot', 'web', '--name', 'ready')
    const human = await cli.run(['fork', 'ready', '-n', '3', '--name', 'try'])
    expect(human.exitCode).toBe(1)
    expect(human.stdout).toMatch(/^forked try-1 .*\nforked try-3 .*\n$/)
    expect(human.stderr).toMatch(/^forkpoint: a fork hook .*\n {2}\| no luck\n/)
    const { document, exitCode } = await cli.json('fork', 'ready', '-n', '3', '--name', 'again')
    expect(exitCode).toBe(1)
    expect(document).toMatchObject({
      environments: [{ name: 'again-1' }, { name: 'again-3' }],
      errors: [{ code: 'backend_failed' }],
    })
    const none = await cli.run(['fork', 'ready', '-n', '3', '--name', 'more', '--atomic'])
    expect(none).toMatchObject({ exitCode: 1, stdout: '' })
    expect(await cli.must('ls')).not.toContain('more')
  })
})

describe('fork, diff and promote', () => {
  let cli: CliHome
  beforeAll(async () => {
    cli = new CliHome()
    await cli.must('create', '--name', 'web', '--workdir', '/srv')
    await ask(cli, 'web', 'echo base > file; N=1')
    await cli.must('snapshot', 'web', '--name', 'ready')
    await cli.must('fork', 'ready', '-n', '2', '--name', 'try')
  })
  afterAll(() => cli[Symbol.asyncDispose]())

  test('branches have their own names and change independently', async () => {
    const forks = (await cli.json('fork', 'ready', '--name', 'single')).document
    expect(forks).toMatchObject([{ name: 'single', status: 'running' }])
    await ask(cli, 'try-1', 'N=2; echo one > file')
    expect(await ask(cli, 'try-1', 'echo $N; hostname')).toBe('2\ntry-1')
    expect(await ask(cli, 'try-2', 'echo $N; cat file')).toBe('1\nbase')
    expect(await cli.must('fork', 'try-2')).toMatch(/^forked e\w{11}\n$/)
  })

  test('diff shows what a branch did, as a list, a summary and a patch', async () => {
    await ask(cli, 'try-2', 'echo two >> file; echo new > added')
    const { document } = await cli.json('diff', 'ready', 'try-2', '/srv')
    expect(document.changes).toMatchObject([
      { path: '/srv/added', kind: 'added' },
      { path: '/srv/file', kind: 'modified' },
    ])
    expect(await cli.must('diff', 'ready', 'try-2', '/srv')).toMatch(
      /^added {5}\/srv\/added +\+4 B\nmodified {2}\/srv\/file +\+4 B\n$/,
    )
    expect(await cli.must('diff', 'ready', 'try-2', '--stat', '/srv')).toBe(
      '1 added, 1 modified; +8 B\n',
    )
    expect(await cli.must('diff', 'ready', 'try-2', '--patch', '/srv')).toContain('\n+two\n')
    expect((await cli.run(['diff', 'ready', 'try-2', 'srv'])).exitCode).toBe(2)
  })

  test('export copies files out, and apply changes a directory or refuses to', async () => {
    using files = new TemporaryDirectory()
    const out = join(files.path, 'out')
    expect((await cli.json('export', 'ready', out)).document).toMatchObject({ dir: out })
    expect(readFileSync(join(out, 'file'), 'utf8')).toBe('base\n')
    expect((await cli.run(['export', 'ready', out])).exitCode).toBe(4)

    const project = join(files.path, 'project')
    mkdirSync(project)
    writeFileSync(join(project, 'value'), 'old\n')
    await cli.must('create', '--name', 'worker', '--from', `dir:${project}`)
    await ask(cli, 'worker', 'echo new > value; echo more > other')
    const plan = await cli.must('apply', 'worker', project, '--dry-run')
    expect(plan).toMatch(/would apply 2 changes of \/.*, 0 conflicts\n$/)
    expect(readdirSync(project)).toEqual(['value'])
    expect(await cli.must('apply', 'worker', project)).toMatch(/applied 2 changes of \/.*\n$/)
    expect(readFileSync(join(project, 'value'), 'utf8')).toBe('new\n')
    expect(existsSync(join(project, 'other'))).toBe(true)
  })

  test('promote makes a branch the trunk, and the branch continues', async () => {
    await ask(cli, 'try-1', 'N=best; echo best > file')
    expect(await cli.must('promote', 'try-1', 'web')).toMatch(/^promoted try-1 .* into web /)
    expect(await ask(cli, 'web', 'echo $N; cat file; hostname')).toBe('best\nbest\nweb')
    expect(await ask(cli, 'try-1', 'echo $N')).toBe('best')
    expect((await cli.run(['promote', 'web', 'web'])).exitCode).toBe(2)
  })

  test('tree shows every environment on its head', async () => {
    const text = await cli.must('tree')
    expect(text).toMatch(/^──● ready +s\w{11} +\d+\w +/)
    expect(text).toMatch(/^ {2}│ └─▸ try-2 +e\w{11} +\d+\w +running$/m)
    const promoted = /─● s\w{11} .* taken to promote\n +│ └───▸ web .*\n +└─▸ try-1 .* running$/m
    expect(text).toMatch(promoted)
    const { document } = await cli.json('tree', 'web')
    expect(document).toMatchObject([{ kind: 'snapshot', name: 'ready', status: 'ready' }])
  })

  test('log shows every operation with its steps, and usage shows all disk usage', async () => {
    const { document } = await cli.json('log', 'web')
    const { operations } = document
    expect(operations.map(({ kind }: { kind: string }) => kind)).toEqual([
      'create',
      'snapshot',
      'promote',
    ])
    const [, snapshot, promote] = operations
    expect(snapshot.phases.map(({ name }: { name: string }) => name)).toContain('dump')
    expect(snapshot.bytes).toBeGreaterThan(0)
    expect(promote).toMatchObject({ state: 'done', from: expect.stringMatching(snapshotId) })
    expect(await cli.must('log', 'web')).toMatch(
      /snapshot +done +.* save processes .*\n.*promote +done/,
    )

    const usage = (await cli.json('usage')).document
    const ready = usage.snapshots.find(({ name }: { name: string }) => name === 'ready')
    expect(ready.ownBytes).toBe(ready.filesBytes + ready.squashedBytes + ready.imagesBytes)
    expect(ready.uniqueBytes).toBe(ready.imagesBytes)
    expect(usage.totals).toMatchObject({ uncounted: 0 })
    expect(await cli.must('usage')).toMatch(
      /^SNAPSHOT +OWN +FILES +SQUASHED +MEMORY +SHARED +UNIQUE\nready /,
    )
  })

  test.each([
    [['snapshot', 'web', '--name', 'web']],
    [['rename', 'web', 'ready']],
    [['rename', 'ready', 'web']],
    [['fork', 'ready', '--name', 'ready']],
    [['create', '--name', 'ready']],
  ])('an environment and a snapshot cannot have the same name: %s', async (words) => {
    const refused = await cli.run(words)
    expect(refused.exitCode).toBe(4)
    expect(refused.stderr).toMatch(/the name "\w+" is taken[\s\S]*remedy: choose another name/)
  })

  test.each([
    [3, ['restore', 'web', 'nosuch']],
    [3, ['restore', 'nosuch', 'ready']],
    [3, ['fork', 'nosuch']],
    [2, ['fork', 'ready', '-n', '0']],
    [4, ['fork', 'ready', '--name', 'try-1']],
    [4, ['snapshot', 'web', '--name', 'ready']],
    [2, ['snapshot', 'web', '--metadata', '{']],
    [3, ['diff', 'ready', 'nosuch']],
    [3, ['promote', 'nosuch', 'web']],
    [3, ['rm-snapshot', 'nosuch']],
    [4, ['rm-snapshot', 'ready']],
    [4, ['rm-snapshot', 'ready', '--cascade']],
    [2, ['prune', '--keep-last', '-1']],
    [2, ['prune', '--older-than', 'soon']],
    [3, ['tree', 'nosuch']],
    [3, ['log', 'nosuch']],
  ])('bad input ends with exit code %i: %j', async (exitCode, args) => {
    const human = await cli.run(args)
    expect(human).toMatchObject({ exitCode, stdout: '' })
    expect(human.stderr).toMatch(/^forkpoint: .*\n {2}remedy: /)
    expect((await cli.json(...args)).document.error.message).not.toBe('')
  })
})
