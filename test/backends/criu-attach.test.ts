import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Environment } from '../../src/index.ts'
import type { KillPoint } from '../../src/linux/kill-points.ts'
import { allPids } from '../../src/linux/lives/named-processes.ts'
import { readOfProcess } from '../../src/linux/process-files.ts'
import { treeOf } from '../../src/linux/process-tree.ts'
import { createEnvManager } from '../../src/manager/create-env-manager.ts'
import { TemporaryDirectory } from '../support/temporary-directory.ts'
import {
  counter,
  type Foreign,
  factsOf,
  lastNumberOf,
  numbersIn,
  startForeign,
} from './support/foreign-process.ts'
import { type Opened, openForkpoint } from './support/open-forkpoint.ts'

/** A program of Python that runs another as process 1 of new namespaces. */
const inNamespaces = (script: string) => `import os
command = ['unshare', '-p', '-m', '-n', '-f', '/usr/bin/python3', '-c', ${JSON.stringify(script)}]
os.execvp(command[0], command)`

const nobody = 65_534
const program = fileURLToPath(new URL('programs/operate.ts', import.meta.url))

let files: TemporaryDirectory
let home: string
beforeEach(() => {
  files = new TemporaryDirectory()
  home = mkdtempSync(join(process.env.FORKPOINT_HOME ?? '/var/tmp', 'at-'))
})
afterEach(async () => {
  files[Symbol.dispose]()
  await rm(home, { recursive: true })
})

/** Closing it removes everything that the test made. */
async function open(): Promise<Opened> {
  const opened = await openForkpoint('criu', home)
  return {
    ...opened,
    [Symbol.asyncDispose]: async () => {
      for (const env of await opened.fp.list()) await env.remove()
      await opened.fp.prune()
      await opened[Symbol.asyncDispose]()
    },
  }
}

async function counting(options: Parameters<typeof startForeign>[1] = {}): Promise<Foreign> {
  const foreign = startForeign(files.file('w'), options)
  await expect.poll(() => lastNumberOf(foreign)).toBeGreaterThan(20)
  return foreign
}

async function run(env: Environment, command: string): Promise<string> {
  const { stdout, stderr, exitCode } = await env.exec(command)
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  return stdout
}

/** File and memory agree, and it continues to count. */
async function expectCounting(env: Environment): Promise<void> {
  const last = async () => Number(await run(env, 'tail -n 1 numbers'))
  const before = await last()
  await expect.poll(last).toBeGreaterThan(before + 5)
  const seen = numbersIn(await run(env, 'cp numbers seen && cat seen'))
  expect(seen).toEqual(seen.map((_, index) => index + 1))
}

async function expectUnharmed(foreign: Foreign, before: unknown): Promise<void> {
  // It opens its file for each number, so what it has open changes.
  await expect.poll(() => factsOf(foreign.pid)).toEqual(before)
  const count = lastNumberOf(foreign)
  await expect.poll(() => lastNumberOf(foreign)).toBeGreaterThan(count + 5)
  const seen = numbersIn(readFileSync(join(foreign.workdir, 'numbers'), 'utf8'))
  expect(seen).toEqual(seen.map((_, index) => index + 1))
}

/** What still runs that names this home. */
function leftRunning(): string[] {
  return allPids()
    .map((pid) => readOfProcess(pid, 'cmdline')?.replaceAll('\0', ' ') ?? '')
    .filter((words) => words.includes(home))
}

describe.each([
  ['root', 0],
  ['nobody', nobody],
] as const)('an attached process of %s', (_, uid) => {
  test('is copied over two generations, replaced by a restore, and left as it was', async () => {
    using foreign = await counting({ uid })
    const before = factsOf(foreign.pid)
    await using opened = await open()
    const { fp } = opened
    const env = await fp.attach({ target: foreign.pid, name: 'env' })
    expect(env.lastInfo).toMatchObject({
      workdir: foreign.workdir,
      source: { kind: 'attached', target: `pid:${foreign.pid}` },
    })
    expect(await run(env, 'value=kept; pwd')).toBe(`${foreign.workdir}\n`)
    expect(await run(env, `kill -0 ${foreign.pid} && echo $value`)).toBe('kept\n')
    const snapshot = await env.snapshot({ name: 'first' })
    expect(snapshot.lastInfo.captured).toEqual(['filesystem', 'processes'])
    const [child] = await snapshot.fork(1)
    const [grandchild] = (await child?.fork(1)) ?? []
    for (const each of [child, grandchild]) {
      if (each === undefined) throw new Error('no fork')
      await expectCounting(each)
      expect(await run(each, `stat -c %u /proc/${foreign.pid}`)).toBe(`${uid}\n`)
    }
    await expectUnharmed(foreign, before)
    await env.restore('first')
    await expectCounting(env)
    await expectUnharmed(foreign, before)
    const again = await fp.attach({ target: foreign.pid })
    for (const each of await fp.list()) await each.remove()
    expect(again.id).not.toBe(env.id)
    await fp.prune()
    await expectUnharmed(foreign, before)
    expect(await opened.remnants()).toEqual([])
    expect(leftRunning()).toEqual([])
    expect(readdirSync(foreign.workdir)).toEqual(['numbers'])
  })
})

describe('an attached process', () => {
  test('that writes to another program and a log outside its directory has copies that do not', async () => {
    const log = files.file('log')
    const text = `import time; log = open('${log}', 'w', 1)\nfor n in range(10**9): print(n, flush=True); log.write(f'{n}\\n'); open('n', 'w').write(str(n)); time.sleep(0.002)`
    using foreign = startForeign(files.file('w'), { program: text, stdio: 'pipe' })
    foreign.child.stdout?.resume()
    await expect.poll(() => readdirSync(foreign.workdir)).toEqual(['n'])
    await using opened = await open()
    const env = await opened.fp.attach({ target: foreign.pid })
    const [fork] = await env.fork(1)
    if (fork === undefined) throw new Error('no fork')
    const count = Number(await run(fork, 'cat n'))
    await expect.poll(async () => Number(await run(fork, 'cat n'))).toBeGreaterThan(count + 5)
    const logged = numbersIn(readFileSync(log, 'utf8'))
    expect(logged).toEqual(logged.map((__, index) => index))
  })

  test('that is stopped stays stopped, and so is its copy', async () => {
    using foreign = await counting()
    const before = factsOf(foreign.pid)
    process.kill(foreign.pid, 'SIGSTOP')
    await expect.poll(() => factsOf(foreign.pid)).toMatchObject({ isStopped: true })
    await using opened = await open()
    const env = await opened.fp.attach({ target: foreign.pid })
    const [fork] = await env.fork(1)
    if (fork === undefined) throw new Error('no fork')
    expect(await run(fork, `grep State /proc/${foreign.pid}/status`)).toContain('T (stopped)')
    await run(fork, `kill -CONT ${foreign.pid}`)
    await expectCounting(fork)
    expect(factsOf(foreign.pid)).toMatchObject({ isStopped: true })
    process.kill(foreign.pid, 'SIGCONT')
    await expectUnharmed(foreign, before)
  })

  test('in namespaces of its own is copied from there', async () => {
    const script = `import os, subprocess
os.system('ip link set lo up'); os.system('mount -t proc proc /proc')
log = open('log', 'w')
child = subprocess.Popen(['/usr/bin/python3', '-c', r'''${counter}'''], stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
child.wait()`
    using outer = startForeign(files.file('w'), { program: inNamespaces(script) })
    await expect.poll(() => lastNumberOf(outer)).toBeGreaterThan(20)
    const pid = treeOf(outer.pid).at(-1) ?? 0
    const before = factsOf(pid)
    await using opened = await open()
    const env = await opened.fp.attach({ target: pid })
    const inside = Number(await run(env, 'pgrep -x python3 | tail -n 1'))
    expect(inside).toBeLessThan(100)
    const [fork] = await env.fork(1)
    if (fork === undefined) throw new Error('no fork')
    await expectCounting(fork)
    expect(await run(fork, 'pgrep -x python3')).toBe(`${inside}\n`)
    await expectUnharmed({ ...outer, pid }, before)
  })

  test('becomes an environment of a manager by criu_attach, and survives its cleanup', async () => {
    using foreign = await counting({ uid: nobody })
    const before = factsOf(foreign.pid)
    await using opened = await open()
    const manager = await createEnvManager({
      method: 'criu_attach',
      target_pid: foreign.pid,
      forkpoint: opened.fp,
    })
    const id = await manager.snapshot()
    await manager.restore(id)
    expect((await manager.execCommand('pwd')).stdout).toBe(`${foreign.workdir}\n`)
    await manager.cleanup()
    await expectUnharmed(foreign, before)
  })

  test('is refused with a remedy if it cannot be adopted or captured', async () => {
    await using opened = await open()
    const attach = (target: string | number) => opened.fp.attach({ target })
    await expect(attach('web')).rejects.toMatchObject({ remedy: /pid, such as 1234/ })
    await expect(attach(4_194_304)).rejects.toMatchObject({ code: 'not_found' })
    await expect(attach(process.pid)).rejects.toMatchObject({ remedy: /another terminal/ })
    using foreign = await counting()
    const first = await attach(foreign.pid)
    await expect(attach(foreign.pid)).rejects.toMatchObject({ code: 'conflict' })
    await first.remove()
    using writer = startForeign(files.file('w2'), {
      program: `file = open('${files.file('shared')}', 'w+'); open('ready', 'w'); input()`,
      stdio: 'pipe',
    })
    await expect.poll(() => readdirSync(writer.workdir)).toEqual(['ready'])
    const before = factsOf(writer.pid)
    const env = await attach(writer.pid)
    await expect(env.snapshot()).rejects.toMatchObject({ remedy: /--workdir/ })
    expect(factsOf(writer.pid)).toEqual(before)
    await env.remove()
    expect(await opened.remnants()).toEqual([])
  })
})

describe('a Forkpoint killed while it works with an attached process', () => {
  const words = (verb: string, what: string) => [
    ...['--disable-warning=ExperimentalWarning', program],
    ...['criu', home, verb, what],
  ]

  function killAt(verb: string, point: KillPoint, what = ''): void {
    const env = { ...process.env, FORKPOINT_KILL_AT: point }
    const { signal, stderr } = spawnSync(process.execPath, words(verb, what), {
      env,
      encoding: 'utf8',
    })
    expect({ signal, stderr }).toEqual({ signal: 'SIGKILL', stderr: '' })
  }

  test.each(['attach:noted', 'attach:brought', 'attach:instance'] as const)(
    'at %s leaves nothing behind',
    async (point) => {
      using foreign = await counting({ uid: nobody })
      const before = factsOf(foreign.pid)
      killAt('attach', point, String(foreign.pid))
      await using opened = await open()
      expect(await opened.fp.list()).toEqual([])
      expect(await opened.remnants()).toEqual([])
      expect(leftRunning()).toEqual([])
      await expectUnharmed(foreign, before)
    },
  )

  test('in a snapshot, a fork or a removal leaves the process as it was', async () => {
    using foreign = await counting({ uid: nobody })
    writeFileSync(join(foreign.workdir, 'large'), Buffer.alloc(32 * 1024 ** 2, 'x'))
    const before = factsOf(foreign.pid)
    {
      await using opened = await openForkpoint('criu', home)
      await opened.fp.attach({ target: foreign.pid, name: 'env' })
    }
    killAt('snapshot', 'snapshot:begun')
    killAt('snapshot', 'snapshot:dumped')
    await expectUnharmed(foreign, before)
    const child = spawn(process.execPath, words('snapshot', ''), { stdio: 'ignore' })
    const dumping = () => leftRunning().filter((line) => line.includes(' dump --tree '))
    await expect.poll(dumping, { interval: 5 }).not.toEqual([])
    child.kill('SIGKILL')
    killAt('fork', 'launch:alive')
    await expectUnharmed(foreign, before)
    {
      await using opened = await openForkpoint('criu', home)
      const env = await opened.fp.get('env')
      expect((await opened.remnants()).length).toBe(1)
      const [fork] = await env.fork(1)
      if (fork === undefined) throw new Error('no fork')
      await expectCounting(fork)
      await fork.remove()
    }
    killAt('remove', 'remove:recorded')
    await using opened = await open()
    expect(await opened.fp.list()).toEqual([])
    await opened.fp.prune()
    expect(await opened.remnants()).toEqual([])
    expect(leftRunning()).toEqual([])
    await expectUnharmed(foreign, before)
  })
})
