import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { ConflictError, type Environment, type ForkpointEvent } from '../../src/index.ts'
import { patiently } from '../support/patiently.ts'
import { TestHome } from '../support/test-home.ts'

const home = new TestHome('policies')
afterAll(() => home[Symbol.asyncDispose]())
afterEach(() => home.removeAll())
// The loop-back keeps no policies, as a command line does not; this one does.
const fp = await home.openEmbedded()

/** Everything that is announced while a test runs. */
function listen() {
  const stop = new AbortController()
  const heard: ForkpointEvent[] = []
  const ended = (async () => {
    for await (const event of fp.events({ signal: stop.signal })) heard.push(event)
  })()
  return {
    heard,
    [Symbol.asyncDispose]: async () => {
      stop.abort()
      await ended
    },
  }
}

async function untilStatus(env: Environment, status: string): Promise<void> {
  await expect.poll(async () => (await env.info()).status, patiently).toBe(status)
}

async function causes(env: Environment): Promise<string[]> {
  return (await env.log()).map(({ kind, cause }) => (cause === null ? kind : `${kind} (${cause})`))
}

/** However often it was paused, each time one woke it. */
function expectTurns(lines: readonly string[]): void {
  const turns = lines.filter((line) => line !== 'create')
  const expected = turns.map((_, i) => (i % 2 === 0 ? 'pause (idle)' : 'resume (access)'))
  expect(turns).toEqual(expected)
  expect(turns.length).toBeGreaterThan(1)
}

describe('an environment that nobody uses', () => {
  test('is paused, is announced before, and wakes once when several use it', async () => {
    await using events = listen()
    const env = await fp.create({ idle: { afterMs: 1000, action: 'pause' } })
    const { policy } = await env.info()
    expect(policy.idleAt).toBeGreaterThan(Date.now() - 60_000)
    await untilStatus(env, 'paused')
    const answers = await Promise.all(
      ['a', 'b', 'c'].map((word) => env.exec(['echo', word], { mode: 'process' })),
    )
    expect(answers.map(({ stdout }) => stdout)).toEqual(['a\n', 'b\n', 'c\n'])
    expectTurns(await causes(env))
    const about = events.heard.filter((it) => 'environment' in it && it.environment === env.id)
    const announced = about.findIndex(({ type }) => type === 'policy')
    const paused = about.findIndex((it) => it.type === 'operation' && it.kind === 'pause')
    expect(about[announced]).toMatchObject({ action: 'pause', cause: 'idle', state: 'announced' })
    expect(about[paused]).toMatchObject({ state: 'done', cause: 'idle' })
    expect(announced).toBeLessThan(paused)
    expect(about).toContainEqual(expect.objectContaining({ kind: 'resume', cause: 'access' }))
  })

  test('is released and comes back from disk with its shell as it was', async () => {
    const env = await fp.create({ idle: { afterMs: 1000, action: 'release' } })
    await env.exec('cd /tmp && export WORD=kept')
    await untilStatus(env, 'released')
    expect((await env.exec('pwd; echo $WORD')).stdout).toBe('/tmp\nkept\n')
  })

  test('is not idle while a command runs that prints nothing', async () => {
    const env = await fp.create()
    const silent = await env.spawn('sleep 600')
    await env.setPolicy({ idle: { afterMs: 1000, action: 'pause' } })
    const { idleAt } = (await env.info()).policy
    // It has fallen due at least twice, and each time somebody was found to wait.
    const later = (idleAt ?? Number.NaN) + 2000
    await expect
      .poll(async () => (await env.info()).policy.idleAt, patiently)
      .toBeGreaterThan(later)
    expect(await causes(env)).toEqual(['create', 'policy'])
    await silent.signal('SIGKILL')
    await untilStatus(env, 'paused')
  })

  test('is removed, and so is one whose time to live has ended', async () => {
    await using events = listen()
    const idle = await fp.create({ idle: { afterMs: 1000, action: 'remove' } })
    const expiring = await fp.create({ ttlMs: 1000 })
    const removals = () =>
      events.heard.flatMap((it) => (it.type === 'operation' && it.kind === 'remove' ? it : []))
    await expect.poll(() => removals().length, patiently).toBe(2)
    expect(removals()).toContainEqual(
      expect.objectContaining({ environment: idle.id, cause: 'idle', state: 'done' }),
    )
    expect(removals()).toContainEqual(
      expect.objectContaining({ environment: expiring.id, cause: 'ttl', state: 'done' }),
    )
    expect(await fp.list()).toEqual([])
  })
})

describe('an environment whose time to live ends in a sleep', () => {
  test('is released, wakes when it is used, and then has all of its time again', async () => {
    const env = await fp.create({ ttlMs: 1000, ttlAction: 'release' })
    await env.exec('export WORD=kept')
    await untilStatus(env, 'released')
    expect((await causes(env)).at(-1)).toMatch(/\(ttl\)$/)
    await env.setPolicy({ ttlMs: 60_000 })
    const asked = Date.now()
    expect((await env.exec('echo $WORD')).stdout).toBe('kept\n')
    const { ttlAction, expiresAt } = (await env.info()).policy
    expect(ttlAction).toBe('release')
    expect(expiresAt).toBeGreaterThanOrEqual(asked + 60_000)
    await env.remove()
  })
})

describe('an environment that a caller has paused', () => {
  test('stays paused, and the error says how to resume it', async () => {
    const env = await fp.create({ idle: { afterMs: 60_000, action: 'pause' } })
    await env.pause()
    await expect(env.exec('true')).rejects.toBeInstanceOf(ConflictError)
    await expect(env.files.list('/')).rejects.toMatchObject({
      remedy: expect.stringContaining('forkpoint resume'),
    })
    expect((await env.info()).status).toBe('paused')
  })

  test('wakes if it was made to, also after a release, by files and terminals', async () => {
    const env = await fp.create({ wake: 'always' })
    await env.exec('echo text > /root/a')
    await env.pause()
    expect(String(await env.files.read('/root/a'))).toBe('text\n')
    await env.pause({ release: true })
    await env.terminal().write('echo typed > /root/b\r')
    await expect.poll(async () => (await env.exec('cat /root/b')).stdout, patiently).toBe('typed\n')
    expect((await causes(env)).filter((it) => it.startsWith('resume'))).toEqual([
      'resume (access)',
      'resume (access)',
    ])
  })
})

describe('a policy', () => {
  test('can be changed and taken away, and forks have their own time', async () => {
    const env = await fp.create({ ttlMs: 3_600_000, idle: { afterMs: 600_000, action: 'release' } })
    const [fork] = await env.fork(1)
    const [own, forked] = [(await env.info()).policy, (await fork?.info())?.policy]
    expect(forked).toMatchObject({
      ttlMs: 3_600_000,
      idle: { afterMs: 600_000, action: 'release' },
    })
    expect(forked?.expiresAt).toBeGreaterThan(own.expiresAt ?? Number.NaN)
    await env.setPolicy({ ttlMs: null, idle: { afterMs: 5000, action: 'pause' } })
    expect((await env.info()).policy).toMatchObject({
      ttlMs: null,
      expiresAt: null,
      idle: { afterMs: 5000, action: 'pause' },
    })
    await env.setPolicy({ idle: null, wake: 'never' })
    const { policy } = await env.info()
    expect(policy).toEqual({
      ttlMs: null,
      ttlAction: 'remove',
      idle: null,
      wake: 'never',
      expiresAt: null,
      idleAt: null,
    })
    expect(await causes(env)).toContain('policy')
  })

  test('is kept by one of several processes, and use by any of them counts', async () => {
    const other = await home.openEmbedded()
    const env = await fp.create({ idle: { afterMs: 2000, action: 'pause' } })
    const same = await other.get(env.id)
    for (let i = 0; i < 3; i += 1) await same.exec('sleep 1')
    await untilStatus(env, 'paused')
    await same.exec('true')
    expectTurns(await causes(env))
  })
})
