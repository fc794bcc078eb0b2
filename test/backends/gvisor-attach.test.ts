import { execFileSync, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Environment } from '../../src/index.ts'
import { whyNotHere } from '../conformance/probes.ts'
import { unless } from '../support/evidence.ts'
import { patiently } from '../support/patiently.ts'
import { makeSmallRootfs } from '../support/small-rootfs.ts'
import { TemporaryDirectory } from '../support/temporary-directory.ts'
import { numbersIn } from './support/foreign-process.ts'
import { type Opened, openForkpoint } from './support/open-forkpoint.ts'

const runtime = process.env.FORKPOINT_RUNTIME ?? '/var/lib/forkpoint-runtime'
const runsc = join(runtime, 'runsc/runsc')
const program = fileURLToPath(new URL('programs/operate.ts', import.meta.url))
const counting = 'n=0; while :; do n=$((n + 1)); echo $n >> /work/numbers; sleep 0.05; done'

/** The OCI description of a container that is not ours. */
function description(root: string, more: object = {}): object {
  return {
    ociVersion: '1.0.2',
    hostname: 'theirs',
    root: { path: root },
    process: {
      user: { uid: 0, gid: 0 },
      args: ['/bin/bash', '-c', counting],
      env: ['PATH=/bin:/usr/bin', 'TINT=pale'],
      cwd: '/work',
    },
    mounts: [{ destination: '/proc', type: 'proc', source: 'proc' }],
    linux: { namespaces: ['pid', 'ipc', 'uts', 'mount', 'network'].map((type) => ({ type })) },
    ...more,
  }
}

/** All files with owner, mode, time and digest, except for the one that runsc writes to all the time. */
function filesIn(root: string): string {
  const script = `cd "$1" && find . -not -name '.gvisor.filestore.*' -printf '%p %m %U:%G %T@ %s %l\\n' | sort
find . -type f -not -name '.gvisor.filestore.*' -exec sha256sum {} + | sort`
  return execFileSync('sh', ['-c', script, 'sh', root], { encoding: 'utf8' })
}

describe('a running container of runsc', unless(whyNotHere('gvisor')), () => {
  let files: TemporaryDirectory
  let home: string
  let root: string
  const state = () => files.file('state')
  const ask = (...words: string[]) =>
    execFileSync(runsc, ['--root', state(), ...words], { encoding: 'utf8' })

  function start(id: string, spec: object, ...flags: string[]): void {
    const bundle = files.file(`bundle-${id}`)
    mkdirSync(bundle)
    writeFileSync(join(bundle, 'config.json'), JSON.stringify(spec))
    const all = ['--root', state(), '--platform=systrap', '--ignore-cgroups', ...flags]
    const words = [runsc, ...all, 'run', '--detach', '--bundle', bundle, id]
    // In a mount namespace of its own, so that nothing of it stays mounted here.
    execFileSync('unshare', ['--mount', '--propagation', 'private', '--', ...words], {
      stdio: 'ignore',
    })
  }

  function end(id: string): void {
    spawnSync(runsc, ['--root', state(), 'kill', id, 'KILL'])
    spawnSync(runsc, ['--root', state(), 'delete', '--force', id], { timeout: 20_000 })
  }

  function open(): Promise<Opened> {
    return openForkpoint('gvisor', home, { 'gvisor.root': state() })
  }

  const seen = () => numbersIn(ask('exec', 'theirs', '/bin/cat', '/work/numbers'))

  /** What must be the same afterwards: its files on the host, its processes, and what runsc notes. */
  function traceOf() {
    const [name = ''] = readdirSync(state()).filter((each) => each.endsWith('.state'))
    return {
      files: filesIn(root),
      state: readFileSync(join(state(), name), 'utf8'),
      names: readdirSync(state()),
      inside: ask('exec', 'theirs', '/bin/ls', '-A', '/', '/run', '/dev', '/tmp'),
      first: ask('ps', 'theirs').split('\n')[1]?.split(/\s+/, 3),
    }
  }

  async function run(env: Environment, command: string): Promise<string> {
    const { stdout, stderr, exitCode } = await env.exec(command)
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    return stdout
  }

  async function expectCounting(env: Environment): Promise<void> {
    const numbers = async () => numbersIn(await run(env, 'cat /work/numbers'))
    const { length } = await numbers()
    await expect.poll(async () => (await numbers()).length, patiently).toBeGreaterThan(length + 2)
    const all = await numbers()
    expect(all).toEqual(all.map((_, index) => index + 1))
  }

  beforeAll(async () => {
    files = new TemporaryDirectory()
    root = files.file('root')
    mkdirSync(root)
    makeSmallRootfs(root)
    for (const name of ['work', 'run', 'proc', 'tmp'])
      mkdirSync(join(root, name), { recursive: true })
    mkdirSync(state())
    start('theirs', description(root), '--network=none')
    while (!existsSync(join(state(), 'runsc-theirs.sock'))) await sleep(20)
  })
  afterAll(() => {
    end('theirs')
    files[Symbol.dispose]()
  })
  beforeEach(() => {
    home = mkdtempSync(join(process.env.FORKPOINT_HOME ?? '/var/tmp', 'ga-'))
  })
  afterEach(async () => {
    await using opened = await open()
    for (const env of await opened.fp.list()) await env.remove({ force: true })
    await opened.fp.prune()
    expect(await opened.remnants()).toEqual([])
    await rm(home, { recursive: true })
  })

  test('is copied with files and processes over two generations, and left as it was', async () => {
    await expect.poll(() => seen().length, patiently).toBeGreaterThan(5)
    const before = traceOf()
    await using opened = await open()
    const env = await opened.fp.attach({ target: 'theirs', name: 'mine' })
    expect(env.lastInfo).toMatchObject({
      workdir: '/work',
      source: { kind: 'attached', target: 'theirs' },
    })
    expect(env.lastInfo.capabilities).not.toContain('terminal')
    expect(await run(env, 'echo $TINT; pwd')).toBe('pale\n/work\n')
    expect(await run(env, 'ls -A /')).not.toContain('filestore')
    await expectCounting(env)
    await run(env, 'cd /tmp; export KEPT=yes')
    const snapshot = await env.snapshot()
    expect(snapshot.lastInfo.captured).toEqual(['filesystem', 'processes'])
    const [child] = await snapshot.fork(1)
    const [grandchild] = (await child?.fork(1)) ?? []
    if (grandchild === undefined) throw new Error('no fork')
    await expectCounting(grandchild)
    expect(await run(grandchild, 'pwd; echo $KEPT')).toBe('/tmp\nyes\n')
    await run(env, 'echo gone > /work/numbers')
    await env.restore(snapshot.id)
    await expectCounting(env)
    const { length } = seen()
    await expect.poll(() => seen().length, patiently).toBeGreaterThan(length + 2)
    const numbers = seen()
    expect(numbers).toEqual(numbers.map((_, index) => index + 1))
    for (const each of await opened.fp.list()) await each.remove()
    expect(traceOf()).toEqual(before)
  })

  test('is refused with a remedy if it cannot be copied', async () => {
    await using opened = await open()
    const attach = (target: string) => opened.fp.attach({ target })
    await expect(attach('nobody')).rejects.toMatchObject({ code: 'not_found' })
    await expect(attach('../theirs')).rejects.toMatchObject({ code: 'invalid_input' })
    const shared = { destination: '/tmp', type: 'bind', source: files.path, options: ['rbind'] }
    start('mounted', description(root, { mounts: [shared] }), '--network=none')
    try {
      await expect(attach('mounted')).rejects.toMatchObject({
        code: 'unsupported',
        message: /"\/tmp" of the host/,
        remedy: /read-only/,
      })
    } finally {
      end('mounted')
    }
    expect(await opened.fp.list()).toEqual([])
  })

  test.each(['attach:brought', 'attach:instance'])(
    'is left as it was by a Forkpoint that is killed at %s',
    async (point) => {
      const before = traceOf()
      const { signal, stderr } = spawnSync(
        process.execPath,
        [program, 'gvisor', home, 'attach', 'theirs'],
        {
          env: {
            ...process.env,
            NODE_NO_WARNINGS: '1',
            FORKPOINT_GVISOR_ROOT: state(),
            FORKPOINT_KILL_AT: point,
          },
          encoding: 'utf8',
        },
      )
      expect({ signal, stderr }).toEqual({ signal: 'SIGKILL', stderr: '' })
      await using opened = await open()
      expect(await opened.fp.list()).toEqual([])
      expect(await opened.remnants()).toEqual([])
      expect(traceOf()).toEqual(before)
    },
  )
})
