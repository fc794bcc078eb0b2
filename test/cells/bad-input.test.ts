import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  type CreateOptions,
  type Environment,
  Forkpoint,
  ForkpointError,
  InvalidInputError,
  type Snapshot,
} from '../../src/index.ts'
import { alsoWith, anyValue, deepValue, oddValues } from '../support/hostile-values.ts'
import { TestHome } from '../support/test-home.ts'

let home: TestHome
let fp: Forkpoint
let env: Environment
let taken: Snapshot

beforeAll(async () => {
  home = new TestHome('bad-input', { spares: 0 })
  fp = await home.open()
  env = await fp.create()
  taken = await env.snapshot({ name: 'taken' })
})

afterAll(async () => {
  await home[Symbol.asyncDispose]()
})

/** What a caller without a type checker can do: any method, any argument. */
type Call = (value: never) => unknown

async function outcome(call: () => unknown): Promise<unknown> {
  try {
    await call()
    return null
  } catch (error) {
    return error
  }
}

describe('through the API', () => {
  const memory = (memoryBytes: unknown) => ({ limits: { memoryBytes } })
  const creations: readonly unknown[] = [
    null,
    5,
    'host',
    [1],
    { from: 5 },
    { from: {} },
    { from: { kind: 'dir', path: 3 } },
    memory(-1),
    memory(0),
    memory(2),
    memory(Number.NaN),
    memory('1g'),
    memory(2 ** 60),
    memory(1.5 * 2 ** 24 + 0.5),
    memory(Number.POSITIVE_INFINITY),
    { limits: null },
    ...[-1, 0, '2', Number.NaN, Number.POSITIVE_INFINITY].map((cpus) => ({ limits: { cpus } })),
    ...[-1, 0, 1.5, 99_999_999_999, '64'].map((pids) => ({ limits: { pids } })),
    { limits: { memory: 5 } },
    { net: 'host' },
    { net: null },
    { memory: 'x' },
    { netAllow: '10.0.0.0/8' },
    { netAllow: [5] },
    { netAllow: ['10.0.0.0/99'] },
    { backend: 'none' },
    { name: '' },
    { name: 5 },
    { name: '../x' },
    { name: 'a\u202eb' },
    { env: { 'A B': '1' } },
    { env: { A: 1 } },
    { env: { A: '\0' } },
    { env: [] },
    { env: null },
    { labels: { '': 'x' } },
    { labels: { a: null } },
    { labels: 'a=b' },
    { labels: { a: 'x'.repeat(5000) } },
    { workdir: 'tmp' },
    { workdir: '/a\0' },
    { workdir: `/${'x'.repeat(5000)}` },
    { workdir: 5 },
    { signal: {} },
    { memroy: 1 },
    { limits: { memoryBytes: 2 ** 30, cpu: 1 } },
  ]

  test.each(creations.map((options) => [options]))('create(%j) is refused', async (options) => {
    const error = await outcome(() => fp.create(options as CreateOptions))
    expect(error).toBeInstanceOf(InvalidInputError)
    expect((error as InvalidInputError).remedy).toBeTruthy()
  })

  test('a misspelt option is answered with a suggestion', async () => {
    const error = await outcome(() => fp.create({ netallow: [] } as CreateOptions))
    expect(error).toMatchObject({ remedy: 'did you mean netAllow?' })
  })

  test('an option given as undefined does not lift a limit', async () => {
    const limits = { pids: undefined, memoryBytes: undefined } as unknown as { pids: number }
    const made = await fp.create({ limits })
    expect(made.lastInfo.limits).toMatchObject({ pids: 4096, memoryBytes: expect.any(Number) })
    await made.remove()
  })

  const calls: Record<string, () => unknown> = {
    'a timeout of -1': () => env.exec('true', { timeoutMs: -1 }),
    'a timeout of 0': () => env.exec('true', { timeoutMs: 0 }),
    'a timeout of NaN': () => env.exec('true', { timeoutMs: Number.NaN }),
    'a command without words': () => env.exec([]),
    'a command with a NUL': () => env.exec('a\0b'),
    'options that are null': () => env.exec('true', null as never),
    'a listener that is not a function': () => env.exec('true', { onStdout: 'x' as never }),
    'a stream of numbers': () =>
      env.exec('cat', {
        stdin: (async function* () {
          yield 5 as unknown as string
        })(),
      }),
    'a mode of -1': () => env.files.write('/tmp/x', 'x', { mode: -1 }),
    'a mode that is too large': () => env.files.mkdir('/tmp/x', { mode: 0o10000 }),
    'an owner of -1': () => env.files.write('/tmp/x', 'x', { uid: -1 }),
    'a path that is null': () => env.files.read(null as never),
    'a relative path': () => env.files.read('etc/passwd'),
    'an endless path': () => env.files.stat(`/${'x'.repeat(5000)}`),
    'content that is a number': () => env.files.write('/tmp/x', 5 as never),
    'a negative offset': () => env.files.read('/etc/passwd', { offsetBytes: -1 }),
    'port 0': () => env.ports.forward(0),
    'port 65536': () => env.ports.forward(65_536),
    'port 80x': () => env.ports.forward('80x' as never),
    'a port to listen on of -1': () => env.ports.forward(80, { listenPort: -1 }),
    'no forks': () => taken.fork(0),
    'half a fork': () => taken.fork(1.5),
    'too many forks': () => taken.fork(1001),
    'an option of fork that is not an object': () => taken.fork(1, 'x' as never),
    'a snapshot of nothing': () => env.restore(null as never),
    'a branch that is neither kind': () => env.promote({ id: 'x' } as never),
    'metadata that is too deep': () => env.snapshot({ metadata: deepValue() as never }),
    'circular metadata': () => {
      const metadata: Record<string, unknown> = {}
      metadata.self = metadata
      return env.snapshot({ metadata: metadata as never })
    },
    'metadata with a function': () => env.snapshot({ metadata: { a: () => 1 } as never }),
    'metadata with a bigint': () => env.snapshot({ metadata: 5n as never }),
    'metadata with a date': () => env.snapshot({ metadata: { at: new Date() } as never }),
    'metadata of megabytes': () => env.snapshot({ metadata: 'x'.repeat(2 ** 21) }),
    'a label without a key': () => taken.label({ '': 'x' }),
    'a terminal without columns': () => env.terminal().resize({ cols: 0, rows: 5 }),
    'keeping -1 snapshots': () => fp.prune({ keepLast: -1, dryRun: true }),
    'an age of NaN': () => fp.prune({ olderThanMs: Number.NaN, dryRun: true }),
    'a home that is a number': () => Forkpoint.open({ settings: { home: 5 } }),
    'a setting that is a function': () => Forkpoint.settings({ settings: { memory: () => 1 } }),
    'an unknown option of open': () => Forkpoint.open({ house: '/x' } as never),
  }

  test.each(Object.entries(calls))('%s is refused', async (_, call) => {
    const error = await outcome(call)
    expect(error).toBeInstanceOf(InvalidInputError)
    expect((error as InvalidInputError).message.length).toBeLessThan(500)
  })

  test('labels and metadata keep every key, `__proto__` too', async () => {
    const odd = JSON.parse('{"__proto__": "x", "constructor": "y"}')
    const labelled = await env.snapshot({ labels: odd, metadata: odd })
    expect(Object.entries(labelled.lastInfo.labels)).toEqual(Object.entries(odd))
    expect(await fp.snapshots({ labels: odd })).toHaveLength(1)
    expect(await fp.snapshots({ labels: { toString: 'x' } })).toHaveLength(0)
    expect(JSON.stringify(labelled.lastInfo.metadata)).toBe(JSON.stringify(odd))
    await labelled.remove().catch(() => {})
  })
})

describe('whatever the arguments are', () => {
  const execKeys = ['mode', 'shell', 'cwd', 'env', 'user', 'stdin', 'timeoutMs', 'onStdout']
  const createKeys = ['from', 'name', 'backend', 'limits', 'net', 'memory', 'netAllow', 'env']
  const withKey = (keys: readonly string[], call: (options: never) => unknown) =>
    Object.fromEntries(keys.map((key) => [key, (value: never) => call({ [key]: value } as never)]))
  const prefixed = (prefix: string, calls: Record<string, Call>) =>
    Object.entries(calls).map(([name, call]): [string, Call] => [`${prefix} ${name}`, call])
  const removing = async (made: Promise<Environment>) => {
    await (await made).remove()
  }
  const methods: [string, Call][] = [
    ['open', (value) => Forkpoint.open(value).then((opened) => opened.close())],
    ['settings', (value) => Forkpoint.settings(value)],
    ['open settings', (value) => Forkpoint.settings({ settings: value })],
    ['open configPath', (value) => Forkpoint.settings({ configPath: value })],
    ['open settings home', (value) => Forkpoint.settings({ settings: { home: value } })],
    ['open settings mask', (value) => Forkpoint.settings({ settings: { mask: value } })],
    ...prefixed(
      'create',
      withKey(createKeys, (options) => removing(fp.create(options))),
    ),
    ['get', (value) => fp.get(value)],
    ['list', (value) => fp.list(value)],
    ['snapshot', (value) => fp.snapshot(value)],
    ['snapshots', (value) => fp.snapshots(value)],
    ['find', (value) => fp.find(value)],
    ['tree', (value) => fp.tree(value)],
    ['prune', (value) => fp.prune(alsoWith(value, { dryRun: true }))],
    ['removeSnapshots', (value) => fp.removeSnapshots(value)],
    ['removeSnapshots of', (value) => fp.removeSnapshots([value])],
    ['events', (value) => fp.events(value).return?.()],
    ['compact', (value) => (value === undefined ? null : fp.compact(value))],
    ['exec options', (value) => env.exec('true', value)],
    ...prefixed(
      'exec',
      withKey(execKeys, (options) => env.exec('true', options)),
    ),
    ['exec', (value) => env.exec(value, { mode: 'process', timeoutMs: 5000 })],
    ['spawn', (value) => env.spawn('true', value)],
    ['command', (value) => env.command(value)],
    ['command offsets', (value) => env.command('none', value)],
    ['shell', (value) => env.terminal(value)],
    ['closeShell', (value) => env.closeShell(value)],
    ['pause', (value) => env.pause(value).then(() => env.resume())],
    ['snapshot name', (value) => env.snapshot({ name: value, mode: 'filesystem' })],
    ['snapshot message', (value) => env.snapshot({ message: value, mode: 'filesystem' })],
    ['snapshot metadata', (value) => env.snapshot({ metadata: value, mode: 'filesystem' })],
    ['snapshot labels', (value) => env.snapshot({ labels: value, mode: 'filesystem' })],
    ['restore', (value) => env.restore(value)],
    ['fork options', (value) => env.fork(1, alsoWith(value, { name: '' }))],
    ['promote', (value) => env.promote(value)],
    ['diff', (value) => env.diff(value)],
    ['diff options', (value) => taken.diff(undefined, value)],
    ['export', (value) => (typeof value === 'string' ? null : env.export(value))],
    ['export options', (value) => env.export('/dev/null/none', value)],
    ['apply', (value) => (typeof value === 'string' ? null : env.apply(value))],
    ['apply options', (value) => env.apply('/dev/null/none', value)],
    ['rename', (value) => env.rename(value)],
    ['label', (value) => taken.label(value)],
    ['remove snapshot', (value) => taken.remove(alsoWith(value, { unknown: 1 }))],
    ['files.read', (value) => env.files.read(value)],
    ['files.read options', (value) => env.files.read('/etc/hostname', value)],
    ['files.write', (value) => env.files.write('/tmp/written', value)],
    ['files.write options', (value) => env.files.write('/tmp/written', 'x', value)],
    ['files.list', (value) => env.files.list(value)],
    ['files.stat', (value) => env.files.stat(value)],
    ['files.mkdir options', (value) => env.files.mkdir('/tmp/made', value)],
    ['files.symlink', (value) => env.files.symlink(value, '/tmp/link')],
    ['files.rename', (value) => env.files.rename('/tmp/none', value)],
    ['files.remove options', (value) => env.files.remove('/tmp/none', value)],
    [
      'files.upload',
      (value) => (typeof value === 'string' ? null : env.files.upload(value, '/tmp/u')),
    ],
    ['files.download', (value) => env.files.download(value, '/dev/null/none')],
    ['files.watch', (value) => env.files.watch(value).then((watch) => watch.close())],
    [
      'ports.forward',
      (value) => env.ports.forward(value).then((open) => open[Symbol.asyncDispose]()),
    ],
    ['ports.forward options', (value) => env.ports.forward(9, alsoWith(value, { listenPort: -1 }))],
    [
      'shell.attach',
      (value) =>
        env
          .terminal('odd')
          .attach(value)
          .then((viewer) => viewer.detach()),
    ],
    ['shell.resize', (value) => env.terminal('odd').resize(value)],
    ['shell.write', (value) => env.terminal('odd').write(value)],
    [
      'command.writeStdin',
      async (value) => {
        const running = await env.spawn('cat', { mode: 'process', stdin: 'streamed' })
        await running.writeStdin(value).finally(() => running.detach())
      },
    ],
    [
      'terminal.write',
      async (value) => {
        const viewer = await env.terminal('odd').attach()
        await viewer.write(value).finally(() => viewer.detach())
      },
    ],
    [
      'command.signal',
      async (value) => {
        const running = await env.spawn('true', { mode: 'process' })
        await running.signal(value).finally(() => running.detach())
      },
    ],
    [
      'terminal.resize',
      async (value) => {
        const viewer = await env.terminal('odd').attach()
        await viewer.resize(value).finally(() => viewer.detach())
      },
    ],
  ]

  test.each(methods)('%s succeeds or says what is wrong', async (name, call) => {
    const judge = async (value: unknown) => {
      const error = await outcome(() => call(value as never))
      if (error === null || error instanceof ForkpointError) return
      throw new Error(`${name} failed with ${(error as Error).stack ?? String(error)}`)
    }
    for (const value of oddValues) await judge(value)
    await fc.assert(fc.asyncProperty(anyValue, judge), { numRuns: 40 })
  })
})
