import { afterAll, afterEach, describe, expect, test } from 'vitest'
import {
  createEnvManager,
  type DecisionFacts,
  type EnvManager,
  type EnvManagerOptions,
} from '../../../src/index.ts'
import { TestHome } from '../../support/test-home.ts'

const home = new TestHome('virtual')
afterAll(() => home[Symbol.asyncDispose]())
afterEach(() => home.removeAll())
const forkpoint = await home.open()

const build = (options: Partial<EnvManagerOptions> = {}): Promise<EnvManager> =>
  createEnvManager({ method: 'waypoint_build', forkpoint, decider: 'never', ...options })

const kindsOf = async (env: EnvManager) => (await env.listSnapshots()).map(({ kind }) => kind)

describe('a virtual snapshot', () => {
  test('is replayed from the nearest physical one, with shell, files and exit codes', async () => {
    const env = await build()
    await env.execCommand('cd /root; n=1')
    const root = await env.snapshot()
    await env.execCommand('n=$((n+1)); echo $n > file; export MODE=debug')
    const one = await env.snapshot()
    await env.execCommand('n=$((n+1)); echo $n >> file; false')
    await env.execCommand(['sh', '-c', 'cat; exit 3'], { mode: 'process', stdin: 'given' })
    const two = await env.snapshot()
    expect(await kindsOf(env)).toEqual(['physical', 'virtual', 'virtual'])
    await env.execCommand('rm file; n=100; unset MODE')

    await env.restore(two)
    const look = 'cat file; echo $n $MODE $PWD'
    expect((await env.execCommand(look)).stdout).toBe('2\n3\n3 debug /root\n')
    await env.restore(one)
    expect((await env.execCommand(look)).stdout).toBe('2\n2 debug /root\n')
    await env.restore(root)
    expect((await env.execCommand('echo $n; ls')).stdout).toBe('1\n')
    // Nothing that a replay needed is left but what the user asked for.
    expect((await forkpoint.list()).length).toBe(1)
    expect((await forkpoint.snapshots()).map(({ id }) => id)).toEqual([root])
    await env.cleanup()
  })

  test('has children of both kinds, and forks', async () => {
    const env = await build({
      decider: ({ virtualDepth }) => (virtualDepth < 1 ? 'virtual' : 'physical'),
    })
    const root = await env.snapshot()
    await env.execCommand('echo v > /root/file')
    const virtual = await env.snapshot()
    await env.execCommand('echo p >> /root/file')
    const physical = await env.snapshot()
    const parents = (await env.listSnapshots()).map(({ id, parent }) => [id, parent])
    expect(parents).toEqual([
      [root, null],
      [virtual, root],
      [physical, virtual],
    ])
    const made = await env.fork(virtual, 2)
    for (const { id, base } of made) {
      expect(base).toBe(virtual)
      expect((await env.execOnBranch(id, 'cat /root/file')).stdout).toBe('v\n')
    }
    await env.restore(physical)
    expect((await env.execCommand('cat /root/file')).stdout).toBe('v\np\n')
    await env.cleanup()
    expect(await forkpoint.snapshots()).toEqual([])
  })

  test('that does not replay is an error, and the old state stays', async () => {
    const env = await build()
    await env.snapshot()
    await env.execCommand('cat /proc/sys/kernel/random/uuid')
    const virtual = await env.snapshot()
    await env.execCommand('cd /srv; kept=yes; sleep 1000 &')
    const pid = (await env.execCommand('echo $!')).stdout
    await expect(env.restore(virtual)).rejects.toMatchObject({
      code: 'backend_failed',
      message: expect.stringMatching(/not repeatable: it printed something else on stdout/),
      remedy: expect.stringMatching(/physical snapshots/),
    })
    const still = await env.execCommand('echo $kept $PWD; kill -0 $! && echo $!')
    expect(still.stdout).toBe(`yes /srv\n${pid}`)
    expect((await forkpoint.list()).length).toBe(1)
    expect((await forkpoint.snapshots()).length).toBe(1)
    await expect(env.fork(virtual)).rejects.toThrow(/not repeatable/)
    await env.cleanup()
  })

  test('has a name of its own, and is replaced by a physical one if its commands are too long', async () => {
    const env = await build()
    await env.snapshot({ name: 'base' })
    await env.snapshot({ name: 'virtual' })
    await expect(env.snapshot({ name: 'virtual' })).rejects.toMatchObject({ code: 'conflict' })
    await expect(env.snapshot({ name: '../up' })).rejects.toMatchObject({ code: 'invalid_input' })
    const stdin = 'x'.repeat(1_500_000)
    for (let i = 0; i < 3; i += 1) await env.execCommand('cat > /root/file', { stdin })
    const { kind, forced } = await env.takeSnapshot()
    expect([kind, forced]).toEqual(['physical', 'the commands are too long to be stored'])
    await env.cleanup()
  })

  test('that ends with another exit code is an error', async () => {
    const env = await build()
    await env.snapshot()
    // The fork that replays has another host name.
    await env.execCommand(`test "$(cat /etc/hostname)" = ${env.sessionId}`)
    const virtual = await env.snapshot()
    await expect(env.restore(virtual)).rejects.toThrow(/exit code 1 instead of exit code 0/)
    await env.cleanup()
  })
})

describe('what is changed outside of execCommand forces a physical snapshot', () => {
  const changes: [string, (env: EnvManager) => Promise<unknown>, RegExp][] = [
    ['files', (env) => env.environment().files.write('/root/file', 'x'), /files\.write/],
    ['another exec', (env) => env.environment().exec('touch /root/file'), /environment\.exec/],
    ['spawn', (env) => env.environment().spawn('sleep 1000'), /environment\.spawn/],
    [
      'terminal',
      (env) => env.environment().terminal().write('touch /root/file\n'),
      /terminal\.write/,
    ],
    ['ports', async (env) => (await env.environment().ports.forward(80)).close(), /ports\.forward/],
    ['a timeout', (env) => env.execCommand('sleep 1000', { timeoutMs: 200 }), /cut short/],
    ['stdin', (env) => env.execCommand('cat', { stdin: Buffer.from([1, 2]) }), /stdin/],
  ]

  test.each(changes)('%s', async (_, change, why) => {
    const env = await build()
    await env.snapshot()
    expect(await env.takeSnapshot()).toMatchObject({ kind: 'virtual', forced: null })
    await change(env)
    const { kind, forced } = await env.takeSnapshot()
    expect(kind).toBe('physical')
    expect(forced).toMatch(why)
    await env.cleanup()
  })

  test('a terminal of somebody else, and a snapshot of somebody else', async () => {
    const env = await build()
    await env.snapshot()
    const other = await forkpoint.get(env.sessionId)
    const theirs = await other.snapshot()
    expect((await env.takeSnapshot()).forced).toMatch(/somebody else/)
    await other.terminal('theirs').write('true\n')
    expect((await env.takeSnapshot()).forced).toMatch(/terminal is open/)
    expect((await env.listSnapshots()).map(({ id }) => id)).toContain(theirs.id)
    await env.cleanup()
  })

  test('a snapshot of only files, which is none to replay from', async () => {
    const env = await build()
    await env.snapshot()
    expect(await env.takeSnapshot({ mode: 'filesystem' })).toMatchObject({
      kind: 'physical',
      forced: 'a mode was given',
    })
    expect((await env.takeSnapshot()).forced).toMatch(/only files/)
    expect((await env.takeSnapshot()).kind).toBe('virtual')
    await env.cleanup()
  })

  test('not what only looks', async () => {
    const env = await build()
    await env.snapshot()
    await env.environment().files.list('/root')
    await env.environment().info()
    await env.environment().stats()
    expect((await env.takeSnapshot()).kind).toBe('virtual')
    await env.cleanup()
  })
})

describe('deciders in a session', () => {
  test('a function of the caller learns what it needs', async () => {
    const seen: DecisionFacts[] = []
    const env = await build({
      decider: (facts) => {
        seen.push(facts)
        return facts.replayMs > 3000 ? 'physical' : 'virtual'
      },
    })
    await env.snapshot()
    await env.execCommand('true')
    await env.snapshot()
    await env.execCommand('sleep 3')
    await env.snapshot()
    expect(await kindsOf(env)).toEqual(['physical', 'virtual', 'physical'])
    expect(seen.map(({ commands, virtualDepth }) => [commands, virtualDepth])).toEqual([
      [1, 0],
      [1, 1],
    ])
    expect(seen[1]?.measured).toMatchObject({ snapshots: 2, returns: 0 })
    expect(seen[1]?.measured.snapshotMs.length).toBe(1)
    await env.cleanup()
  })

  test('cost makes snapshots virtual that nobody returns to', async () => {
    const env = await build({ decider: 'cost' })
    await env.snapshot()
    // Replaying an echo or two costs less than a snapshot that nobody returns to.
    for (let i = 0; i < 5; i += 1) {
      await env.execCommand(`echo ${i} > /root/file`)
      await env.snapshot()
    }
    expect(new Set((await kindsOf(env)).slice(2))).toEqual(new Set(['virtual']))
    await env.cleanup()
  })

  test('a decider that answers nonsense or throws changes nothing', async () => {
    const answers: unknown[] = ['maybe']
    const env = await build({ decider: () => answers.shift() as 'physical' })
    await env.snapshot()
    await expect(env.snapshot()).rejects.toThrow(/the decider answered "maybe"/)
    expect(await kindsOf(env)).toEqual(['physical'])
    await env.cleanup()
  })
})
