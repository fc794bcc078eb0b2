import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { checkHooks, createEnvManager, type EnvManager, type Hook } from '../../../src/index.ts'
import { TemporaryDirectory } from '../../support/temporary-directory.ts'
import { TestHome } from '../../support/test-home.ts'
import { PostgresServer } from './postgres-server.ts'

const home = new TestHome('hooks')
afterAll(() => home[Symbol.asyncDispose]())
afterEach(() => home.removeAll())
const forkpoint = await home.open()

const build = (hooks: readonly Hook[]): Promise<EnvManager> =>
  createEnvManager({ method: 'waypoint_build', forkpoint, hooks, decider: 'never' })

/** The hooks of an example, with these variables. */
function example(name: string, env: Record<string, string>): readonly Hook[] {
  const path = resolve(import.meta.dirname, '../../../examples/hooks', `${name}.json`)
  return checkHooks(JSON.parse(readFileSync(path, 'utf8'))).map((hook) => ({ ...hook, env }))
}

describe('phases', () => {
  const path = join(home.path, 'phases')
  afterEach(() => rmSync(path, { force: true }))
  const note = `echo "$NAME $FORKPOINT_OPERATION $FORKPOINT_PHASE" >> ${path}`
  const noting = { prepare: note, commit: note, abort: note }
  const hook = (name: string, change: Partial<Hook> = {}): Hook => ({
    name,
    snapshot: noting,
    restore: noting,
    fork: noting,
    discard: noting,
    remove: noting,
    env: { NAME: name },
    ...change,
  })
  const noted = () => (existsSync(path) ? readFileSync(path, 'utf8').trimEnd().split('\n') : [])
  const forget = () => rmSync(path, { force: true })

  test('every operation prepares all hooks, happens, and commits all', async () => {
    const env = await build([hook('a'), hook('b')])
    const id = await env.snapshot()
    expect(noted()).toEqual(
      ['a prepare', 'b prepare', 'a commit', 'b commit'].map((text) =>
        text.replace(' ', ' snapshot '),
      ),
    )
    forget()
    await env.restore(id)
    await env.fork(id, 1, ['try'])
    await env.discardBranch('try')
    await env.cleanup()
    const operations = noted().map((line) => line.split(' ')[1])
    expect([...new Set(operations)]).toEqual(['restore', 'fork', 'discard', 'remove'])
    expect(noted().filter((line) => line.endsWith('abort'))).toEqual([])
  })

  test('one that cannot prepare stops the operation, and the others abort', async () => {
    const failing = hook('b', {
      snapshot: { ...noting, prepare: `${note}; echo full >&2; exit 7` },
    })
    const env = await build([hook('a'), failing, hook('c')])
    await expect(env.snapshot()).rejects.toMatchObject({
      code: 'backend_failed',
      message: 'hook b: the command for prepare of snapshot ended with 7',
      lastWords: 'full\n',
    })
    expect(noted().map((line) => line.replace('snapshot ', ''))).toEqual([
      'a prepare',
      'b prepare',
      'b abort',
      'a abort',
    ])
    expect(await forkpoint.snapshots()).toEqual([])
    expect((await env.execCommand('echo alive')).stdout).toBe('alive\n')
    await env.cleanup()
  })

  test('an operation that fails aborts every hook', async () => {
    const env = await build([hook('a')])
    const other = await forkpoint.create()
    await other.snapshot({ name: 'taken' })
    await expect(env.snapshot({ name: 'taken' })).rejects.toThrow(/taken/)
    expect(noted()).toEqual(['a snapshot prepare', 'a snapshot abort'])
    await env.cleanup()
  })

  test('a snapshot that one cannot commit is none to return to', async () => {
    const failing = hook('b', { snapshot: { ...noting, commit: 'exit 1' } })
    const env = await build([hook('a'), failing])
    await env.execCommand('echo kept > /root/file')
    await expect(env.snapshot({ name: 'half' })).rejects.toThrow(/commit of snapshot ended with 1/)
    expect(noted().slice(-2)).toEqual(['b snapshot abort', 'a snapshot abort'])
    expect(await env.listSnapshots()).toEqual([])
    await expect(env.restore('half')).rejects.toThrow(/no snapshot "half"/)
    expect((await env.execCommand('cat /root/file')).stdout).toBe('kept\n')
    await env.cleanup()
    expect(await forkpoint.snapshots()).toEqual([])
  })

  test('forks that one cannot commit are removed again', async () => {
    const env = await build([hook('a', { fork: { ...noting, commit: 'exit 1' } })])
    const id = await env.snapshot()
    await expect(env.fork(id, 2)).rejects.toThrow(/commit of fork/)
    expect((await forkpoint.list()).length).toBe(1)
    expect((await env.listBranches()).map(({ id }) => id)).toEqual(['main'])
    await env.cleanup()
  })

  test('one that hangs is ended with all that it started', async () => {
    const slow = { prepare: `sleep 1000 & echo $! > ${path}; wait` }
    const env = await build([{ name: 'slow', snapshot: slow, timeoutMs: 500 }])
    await expect(env.snapshot()).rejects.toThrow(/took longer than 500 ms/)
    const pid = Number(readFileSync(path, 'utf8'))
    await expect.poll(() => isAlive(pid)).toBe(false)
    await env.cleanup()
  })

  test('with hooks, every snapshot is physical', async () => {
    const env = await build([hook('a')])
    await env.snapshot()
    await env.execCommand('true')
    expect(await env.takeSnapshot()).toMatchObject({
      kind: 'physical',
      forced: expect.stringMatching(/hooks/),
    })
    await env.cleanup()
  })
})

function isAlive(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')
  } catch {
    return false
  }
}

test('a Git worktree is branched together with the environment', async () => {
  using directory = new TemporaryDirectory()
  const main = directory.file('main')
  const git = (...words: string[]) => {
    const author = ['-c', 'user.name=Test', '-c', 'user.email=test@example.org']
    return execFileSync('git', [...author, '-C', main, ...words], { encoding: 'utf8' })
  }
  mkdirSync(main)
  git('init', '-q', '-b', 'trunk')
  writeFileSync(join(main, 'file'), 'first\n')
  git('add', '.')
  git('commit', '-qm', 'first')
  const identity = {
    GIT_AUTHOR_NAME: 'Test',
    GIT_AUTHOR_EMAIL: 'test@example.org',
    GIT_COMMITTER_NAME: 'Test',
    GIT_COMMITTER_EMAIL: 'test@example.org',
  }
  const env = await build(example('git-worktree', { WORKTREES: directory.path, ...identity }))

  await env.execCommand('echo ready > /root/state')
  writeFileSync(join(main, 'file'), 'changed\n')
  writeFileSync(join(main, 'new'), 'untracked\n')
  const ready = await env.snapshot()
  expect(git('status', '--short')).toBe(' M file\n?? new\n')

  await env.execCommand('echo spoilt > /root/state')
  writeFileSync(join(main, 'file'), 'spoilt\n')
  writeFileSync(join(main, 'later'), 'later\n')
  await env.fork(ready, 2, ['left', 'right'])
  for (const branch of ['left', 'right']) {
    expect(readFileSync(join(directory.path, branch, 'file'), 'utf8')).toBe('changed\n')
    expect((await env.execOnBranch(branch, 'cat /root/state')).stdout).toBe('ready\n')
  }
  writeFileSync(join(directory.path, 'left', 'file'), 'left\n')
  await env.restore(ready)
  expect(readFileSync(join(main, 'file'), 'utf8')).toBe('changed\n')
  expect(readdirSync(main).sort()).toEqual(['.git', 'file', 'new'])
  expect((await env.execCommand('cat /root/state')).stdout).toBe('ready\n')
  expect(readFileSync(join(directory.path, 'right', 'file'), 'utf8')).toBe('changed\n')

  await env.discardBranch('left')
  expect(existsSync(directory.file('left'))).toBe(false)
  await env.cleanup()
  expect(readdirSync(directory.path)).toEqual(['main'])
  expect(git('for-each-ref', 'refs/forkpoint')).toBe('')
  expect(git('log', '--format=%s', 'trunk')).toBe('first\n')
})

test('a PostgreSQL database is branched together with the environment', async () => {
  await using server = await PostgresServer.start()
  server.sql('postgres', 'CREATE DATABASE app_main')
  server.sql('app_main', 'CREATE TABLE t (v text)')
  const add = (branch: string, value: string) =>
    server.sql(`app_${branch}`, `INSERT INTO t VALUES ('${value}')`)
  const values = (branch: string) =>
    server.sql(`app_${branch}`, 'SELECT v FROM t ORDER BY v').trim().split('\n')
  const env = await build(example('postgres', server.variables))

  add('main', 'a')
  await env.execCommand('echo a > /root/state')
  const ready = await env.snapshot()
  add('main', 'b')
  await env.execCommand('echo b > /root/state')

  await env.fork(ready, 2, ['left', 'right'])
  add('left', 'l')
  expect([values('main'), values('left'), values('right')]).toEqual([['a', 'b'], ['a', 'l'], ['a']])

  await env.restore(ready)
  expect(values('main')).toEqual(['a'])
  expect((await env.execCommand('cat /root/state')).stdout).toBe('a\n')

  // A branch whose database exists already: nothing happens, inside or outside.
  server.sql('postgres', 'CREATE DATABASE app_theirs')
  await expect(env.fork(ready, 1, ['theirs'])).rejects.toThrow(/hook postgres/)
  expect((await env.listBranches()).map(({ id }) => id)).toEqual(['main', 'left', 'right'])
  expect((await forkpoint.list()).length).toBe(3)

  await env.cleanup()
  const left = server.sql('postgres', "SELECT datname FROM pg_database WHERE datname LIKE 'app%'")
  expect(left.trim().split('\n').sort()).toEqual(['app_main', 'app_theirs'])
  expect(values('main')).toEqual(['a'])
})
