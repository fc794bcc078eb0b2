import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { EnvironmentInfo, Forkpoint } from '../../src/index.ts'
import { openStore } from '../../src/store/open-store.ts'
import { cliProgram, finished, type Ran, type RunOptions } from '../e2e/cli/cli-home.ts'
import { DaemonProcess } from './support/daemon-process.ts'

const dir = mkdtempSync(join(tmpdir(), 'fp-quick-'))
/** The command line without the file that holds all the verbs: it can take no other path. */
const quickProgram = join(dir, 'cli.cjs')
const nowhere = { XDG_CONFIG_HOME: dir }

beforeAll(() => {
  for (const name of ['cli.cjs', 'branch.cjs']) {
    copyFileSync(join(dirname(cliProgram), name), join(dir, name))
  }
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

type Shown = Pick<Ran, 'exitCode' | 'stdout' | 'stderr'>

/** What a person and a script see, without what differs each time: ids, lives, times and sizes. */
function shown({ exitCode, stdout, stderr }: Ran): Shown {
  const same = (text: string) =>
    text
      .replaceAll(/\b([es])[0-9a-hjkmnp-tv-z]{11}\b/g, '$1…')
      .replaceAll(/"life": "\w+"/g, '"life": …')
      .replaceAll(/[\d.]+ (ms|s)\b/g, '… ms')
      .replaceAll(/(At|Ms|ms|Bytes|pid)": [\d.]+/g, '$1": …')
  return { exitCode, stdout: same(stdout), stderr: same(stderr) }
}

class TwoPaths {
  readonly #daemon: DaemonProcess

  constructor(daemon: DaemonProcess) {
    this.#daemon = daemon
  }

  run(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
    return this.#daemon.cli.run(args, { ...options, env: { ...nowhere, ...options.env } })
  }

  quick(...args: string[]): Promise<Ran> {
    return this.run(args, { command: [process.execPath, quickProgram] })
  }

  /** Through the same daemon; its address is given, so the quick path leaves it alone. */
  whole(...args: string[]): Promise<Ran> {
    return this.run(args, { env: { FORKPOINT_HOST: `unix://${this.#daemon.socket}` } })
  }
}

describe('fork, restore and snapshot in their plain forms', () => {
  const daemon = new DaemonProcess()
  const cli = new TwoPaths(daemon)
  let fp: Forkpoint
  beforeAll(async () => {
    await daemon.start()
    fp = await daemon.connect()
    const env = await fp.create({ name: 'web' })
    await env.snapshot({ name: 'ready' })
  })
  afterAll(async () => {
    const all = await fp.list()
    await Promise.all(all.map((env) => env.remove({ force: true })))
    await daemon[Symbol.asyncDispose]()
  })
  const removeForks = async () => {
    const all = await fp.list()
    const forks = all.filter(({ name }) => name !== 'web')
    await Promise.all(forks.map((env) => env.remove({ force: true })))
  }

  test.each([
    [['fork', 'ready']],
    [['fork', 'web', '-q']],
    [['fork', 'ready', '-n', '2', '--name', 'try']],
    [['fork', 'ready', '--count', '2', '--quiet']],
    [['fork', 'ready', '--name', 'one', '--json']],
    [['restore', 'web', 'ready']],
    [['restore', 'web', 'ready', '--json']],
    [['snapshot', 'web']],
    [['snapshot', 'web', '-q']],
    [['snapshot', 'web', '-m', 'a note', '--json']],
  ])('%j prints the same without the rest of the command line', async (args) => {
    const quick = await cli.quick(...args)
    await removeForks()
    const whole = await cli.whole(...args)
    await removeForks()
    expect(whole.exitCode).toBe(0)
    expect(shown(quick)).toEqual(shown(whole))
  })

  test('a snapshot gets its name', async () => {
    const quick = await cli.quick('snapshot', 'web', '--name', 'first')
    const whole = await cli.whole('snapshot', 'web', '--name', 'other')
    expect(quick).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('first (s') })
    expect(shown(quick).stdout.replace('first', 'other')).toBe(shown(whole).stdout)
  })

  test.each([
    [['fork', 'nobody']],
    [['fork', 'nobody', '--json']],
    [['fork', 'ready', '--name', 'web']],
    [['fork', 'ready', '--name', 'web', '--json']],
    [['fork', 'ready', '--name', '../x']],
    [['fork', 'ready', '-n', '0']],
    [['fork', 'ready', '-n', '1000000']],
    [['fork', 'ready', 'twice']],
    [['fork']],
    [['restore', 'nobody', 'ready']],
    [['restore', 'web', 'nothing']],
    [['restore', 'nobody', 'nothing']],
    [['snapshot', 'nobody']],
    [['snapshot', 'web', '--name', 'ready', '--json']],
    [['snapshot', 'web', '--mode', 'none']],
  ])('%j fails alike', async (args) => {
    const ran = await cli.run(args)
    expect(ran.exitCode).toBeGreaterThan(1)
    expect(ran).toEqual(await cli.whole(...args))
  })

  test('forks that could not all be made are reported alike', async () => {
    const [fork] = await (await fp.snapshot('ready')).fork(1)
    if (fork === undefined) throw new Error('no fork was made')
    const failed = { error: { code: 'resource', message: 'no room', remedy: 'make some' } }
    await using server = await answering(fork.lastInfo, [fork.lastInfo, failed])
    for (const more of [[], ['--json']]) {
      const args = ['fork', 'ready', '-n', '2', ...more]
      const quick = await cli.run(args, { env: { FORKPOINT_HOME: server.home } })
      const address = `unix://${server.home}/forkpoint.sock`
      const whole = await cli.run(args, { env: { FORKPOINT_HOST: address } })
      expect(quick).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('make some') })
      expect(quick).toEqual(whole)
    }
    await fork.remove()
  })

  test('a signal ends a snapshot that waits for its turn', async () => {
    const before = await fp.snapshots()
    const { id } = await fp.get('web')
    using store = openStore(daemon.cli.home.path)
    await using _held = await store.leases.acquire(`env:${id}`, 'the test')
    const child = daemon.cli.start(['snapshot', id], {
      command: [process.execPath, quickProgram],
      env: nowhere,
    })
    const ran = finished(child)
    const requests = () => readFileSync(join(daemon.cli.home.path, 'audit.log'), 'utf8')
    const looked = `"operation":"environment.get","object":"${id}"`
    await expect.poll(requests).toContain(looked)
    await sleep(1000)
    child.kill('SIGINT')
    const said = expect.stringMatching(/^forkpoint: cancell.*cancelled/s)
    expect(await ran).toMatchObject({ exitCode: 130, stdout: '', stderr: said })
    expect(requests()).toContain('"operation":"cancel"')
    expect(await fp.snapshots()).toHaveLength(before.length)
  })
})

describe('a daemon that is killed', () => {
  test.each(['fork:begun', 'fork:alive'])(
    'at %s: the command line gets its fork from the next one',
    async (point) => {
      await using daemon = new DaemonProcess()
      await daemon.start({ FORKPOINT_KILL_AT: point })
      const before = await daemon.connect()
      const env = await before.create({ name: 'web' })
      await env.snapshot({ name: 'ready' })
      const forking = new TwoPaths(daemon).quick('fork', 'ready', '--name', 'once')
      await daemon.ended()
      await daemon.start()
      const { exitCode, stdout } = await forking
      const fp = await daemon.connect()
      const all = await fp.list()
      expect(all.map(({ name }) => name)).toEqual(['web', 'once'])
      expect([exitCode, stdout]).toEqual([0, `forked once (${all[1]?.id})\n`])
      await Promise.all(all.map((each) => each.remove({ force: true })))
    },
  )

  test('and does not come back: the error says that it may have happened', async () => {
    await using daemon = new DaemonProcess()
    await daemon.start({ FORKPOINT_KILL_AT: 'restore:alive' })
    const before = await daemon.connect()
    const env = await before.create({ name: 'web' })
    await env.snapshot({ name: 'ready' })
    const { exitCode, stdout, stderr } = await new TwoPaths(daemon).run(['restore', 'web', 'ready'])
    expect([exitCode, stdout]).toEqual([1, ''])
    expect(stderr).toContain(`cannot reach the daemon at unix://${daemon.socket}`)
    expect(stderr).toContain('may have happened')
    await daemon.start()
    const fp = await daemon.connect()
    await (await fp.get('web')).remove({ force: true })
  })

  test('before a command: the command does the work itself', async () => {
    await using daemon = new DaemonProcess()
    await daemon.start()
    await (await daemon.connect()).create({ name: 'web' })
    await daemon.kill()
    const { exitCode, stdout } = await new TwoPaths(daemon).run(['snapshot', 'web'])
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/^took snapshot s/)])
    await daemon.cli.must('rm', '--force', 'web')
  })
})

/** A daemon that finds one environment, and answers every fork of it alike. */
async function answering(found: EnvironmentInfo, forks: readonly unknown[]) {
  const home = mkdtempSync(join(dir, 'home-'))
  const server = createServer((request, response) => {
    request.resume()
    response.end(JSON.stringify(request.method === 'POST' ? forks : found))
  })
  const { promise, resolve } = Promise.withResolvers<void>()
  server.listen(join(home, 'forkpoint.sock'), resolve)
  await promise
  return { home, [Symbol.asyncDispose]: async () => void server.close() }
}
