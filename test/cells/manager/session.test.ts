import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import {
  ConflictError,
  createEnvManager,
  type EnvManager,
  type EnvManagerOptions,
  InvalidInputError,
  NotFoundError,
} from '../../../src/index.ts'
import { TestHome } from '../../support/test-home.ts'

const home = new TestHome('manager')
afterAll(() => home[Symbol.asyncDispose]())
afterEach(() => home.removeAll())
const forkpoint = await home.open()

const build = (options: Partial<EnvManagerOptions> = {}): Promise<EnvManager> =>
  createEnvManager({ method: 'waypoint_build', forkpoint, ...options })

describe.each(['waypoint_build', 'ckpt_build'] as const)('%s', (method) => {
  test('runs the loop of an agent: prepare, snapshot, try A, restore, try B', async () => {
    const env = await createEnvManager({ method, forkpoint })
    expect(env.backend).toBe('native')
    await env.execCommand('cd /root && echo prepared > data')
    await env.execCommand('export MODE=debug')
    const id = await env.snapshot()
    const a = await env.execCommand('echo A >> data; MODE=broken; cat data')
    expect(a.stdout).toBe('prepared\nA\n')
    await env.restore(id)
    const b = await env.execCommand('echo B >> data; cat data; echo $MODE $PWD')
    expect(b.stdout).toBe('prepared\nB\ndebug /root\n')
    expect((await env.listSnapshots()).map((node) => node.id)).toEqual([id])
    const { environments, snapshots, kept } = await env.cleanup()
    expect({ environments, snapshots, kept }).toEqual({
      environments: [env.sessionId],
      snapshots: [id],
      kept: [],
    })
    expect(await forkpoint.list()).toEqual([])
    expect(await forkpoint.snapshots()).toEqual([])
  })
})

describe('branches', () => {
  test('diverge, take commands at the same time, and are parked and made live again', async () => {
    const env = await build()
    await env.execCommand('echo base > /root/file')
    const base = await env.snapshot({ name: 'base' })
    const made = await env.fork('base', 2, ['left', 'right'])
    expect(made.map(({ id, base }) => [id, base])).toEqual([
      ['left', base],
      ['right', base],
    ])
    await Promise.all(
      ['left', 'right'].map((name) => env.execOnBranch(name, `echo ${name} >> /root/file`)),
    )
    const parked = await env.parkBranch('left')
    expect((await env.listBranches()).map(({ id }) => id)).toEqual(['main', 'right'])
    const [again] = await env.fork(parked)
    const read = (name: string) => env.execOnBranch(name, 'cat /root/file')
    expect((await read(again?.id ?? '')).stdout).toBe('base\nleft\n')
    expect((await read('right')).stdout).toBe('base\nright\n')
    expect((await read('main')).stdout).toBe('base\n')
    const tree = await env.printSnapshotTree()
    expect(tree).toContain(`base (${base})`)
    expect(tree).toContain('▸ main *')
    await env.cleanup()
  })

  test('main and the current one are not discarded', async () => {
    const env = await build()
    const id = await env.snapshot()
    await env.fork(id, 1, ['try'])
    env.checkout('try')
    await expect(env.discardBranch('try')).rejects.toBeInstanceOf(ConflictError)
    await expect(env.discardBranch('main')).rejects.toBeInstanceOf(ConflictError)
    await expect(env.parkBranch('main')).rejects.toBeInstanceOf(ConflictError)
    await env.parkBranch('try')
    expect(env.currentBranch).toBe('main')
    await expect(env.fork(id, 1, ['main'])).rejects.toBeInstanceOf(ConflictError)
    await expect(env.fork(id, 2, ['one'])).rejects.toBeInstanceOf(InvalidInputError)
    await expect(env.fork('nothing')).rejects.toBeInstanceOf(NotFoundError)
    expect(() => env.checkout('try')).toThrow(NotFoundError)
    await env.cleanup()
  })
})

describe('attaching', () => {
  test('finds the snapshots and branches of a session again, and leaves the environment', async () => {
    const first = await build({ decider: 'never' })
    const root = await first.snapshot({ name: 'root' })
    await first.execCommand('echo one > /root/file')
    const virtual = await first.snapshot({ name: 'virtual' })
    await first.fork(root, 1, ['try'])
    await first.close()

    const second = await createEnvManager({
      method: 'waypoint_attach',
      session_id: first.sessionId,
      forkpoint,
      decider: 'never',
    })
    expect((await second.listSnapshots()).map(({ id, kind }) => [id, kind])).toEqual([
      [root, 'physical'],
      [virtual, 'virtual'],
    ])
    expect((await second.listBranches()).map(({ id }) => id)).toEqual(['main', 'try'])
    const { kind, forced } = await second.takeSnapshot()
    expect([kind, forced]).toEqual(['physical', expect.stringMatching(/nobody knows/)])
    await second.execCommand('echo two > /root/file')
    await second.restore('virtual')
    expect((await second.execCommand('cat /root/file')).stdout).toBe('one\n')
    const { environments } = await second.cleanup()
    expect(environments).not.toContain(first.sessionId)
    const left = await forkpoint.get(first.sessionId)
    expect((await left.exec('cat /root/file')).stdout).toBe('one\n')
  })

  test('and cleaning up removes the fork of a replay that was killed', async () => {
    const first = await build()
    const base = await forkpoint.snapshot(await first.snapshot())
    const labels = { 'forkpoint.session': first.sessionId, 'forkpoint.replaying': 'v0123456789a' }
    const [scratch] = await base.fork(1, { labels })
    const second = await createEnvManager({
      method: 'ckpt_attach',
      sessionId: first.sessionId,
      forkpoint,
    })
    expect((await second.listBranches()).map(({ id }) => id)).toEqual(['main'])
    expect((await second.cleanup()).environments).toEqual([scratch?.id])
    expect((await forkpoint.list()).map(({ id }) => id)).toEqual([first.sessionId])
  })

  test('to something that does not exist is refused', async () => {
    const wanted = { method: 'ckpt_attach', sessionId: 'nobody', forkpoint } as const
    await expect(createEnvManager(wanted)).rejects.toBeInstanceOf(NotFoundError)
  })
})

test('a method whose backend this version lacks gives the error of the registry', async () => {
  const wanted = { method: 'firecracker_build', forkpoint } as const
  await expect(createEnvManager(wanted)).rejects.toMatchObject({
    message: 'there is no backend "microvm"',
    code: 'invalid_input',
  })
  expect(await forkpoint.list()).toEqual([])
})

test('every operation is in the benchmark log, in memory and in a file', async () => {
  const path = join(home.path, 'log.jsonl')
  const env = await build({ benchmarkLog: path })
  await env.execCommand('dd if=/dev/zero of=/root/file bs=1M count=1 2>&1; sync')
  const id = await env.snapshot()
  await env.restore(id)
  await env.fork(id, 1, ['try'])
  await env.discardBranch('try')
  await env.execCommand('false')
  await expect(env.restore('nothing')).rejects.toThrow()
  const kinds = env.history.map(({ operation, outcome }) => `${operation} ${outcome}`)
  expect(kinds).toEqual([
    'create done',
    'exec done',
    'snapshot done',
    'restore done',
    'fork done',
    'discard done',
    'exec done',
    'restore failed',
  ])
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
  expect(lines.map((line) => JSON.parse(line))).toEqual(env.history)
  const { all, environments } = await env.stats()
  expect(all.time.exec?.count).toBe(2)
  expect(all.time['restore (physical)']?.mean).toBeGreaterThan(0)
  expect(environments[env.sessionId]?.branch).toBe('main')
  await expect
    .poll(async () => (await env.stats()).all.storage.physical?.max ?? 0)
    .toBeGreaterThan(1024 ** 2)
  await env.cleanup()
})
