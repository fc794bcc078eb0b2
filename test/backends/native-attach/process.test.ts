import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Environment, Forkpoint } from '../../../src/index.ts'
import type { KillPoint } from '../../../src/linux/kill-points.ts'
import { treeOf } from '../../../src/linux/process-tree.ts'
import { TemporaryDirectory } from '../../support/temporary-directory.ts'
import { TestHome } from '../../support/test-home.ts'
import {
  type Foreign,
  factsOf,
  lastNumberOf,
  numbersIn,
  startForeign,
} from '../support/foreign-process.ts'
import { openForkpoint } from '../support/open-forkpoint.ts'

const nobody = 65_534
const program = fileURLToPath(new URL('../programs/operate.ts', import.meta.url))

let home: TestHome
let fp: Forkpoint
let files: TemporaryDirectory
beforeAll(async () => {
  home = new TestHome('native-attach')
  fp = await home.open()
})
afterAll(() => home[Symbol.asyncDispose]())
beforeEach(() => {
  files = new TemporaryDirectory()
})
afterEach(async () => {
  await home.removeAll()
  files[Symbol.dispose]()
})

async function counting(options: Parameters<typeof startForeign>[1] = {}): Promise<Foreign> {
  const foreign = startForeign(files.file('w'), options)
  await expect.poll(() => lastNumberOf(foreign)).toBeGreaterThan(20)
  return foreign
}

async function started(script: string, options: Parameters<typeof startForeign>[1] = {}) {
  const foreign = startForeign(files.file('w'), { program: script, ...options })
  await expect.poll(() => readdirSync(foreign.workdir)).toContain('ready')
  return foreign
}

async function run(env: Environment, command: string): Promise<string> {
  const { stdout, stderr, exitCode } = await env.exec(command)
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  return stdout
}

async function forked(env: Environment): Promise<Environment> {
  const [fork] = await env.fork(1)
  if (fork === undefined) throw new Error('no fork')
  return fork
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

describe.each([
  ['root', 0],
  ['nobody', nobody],
] as const)('a process of %s', (_, uid) => {
  test('becomes an ordinary environment, and is left as it was', async () => {
    using foreign = await counting({ uid })
    const before = factsOf(foreign.pid)
    const env = await fp.attach({ target: foreign.pid, name: 'env' })
    expect(env.lastInfo).toMatchObject({
      backend: 'native',
      workdir: foreign.workdir,
      source: { kind: 'attached', target: `pid:${foreign.pid}` },
    })
    await expectCounting(env)
    expect(await run(env, `stat -c %u /proc/${foreign.pid}`)).toBe(`${uid}\n`)
    const snapshot = await env.snapshot({ name: 'first' })
    expect(snapshot.lastInfo.captured).toEqual(['filesystem', 'processes', 'terminal'])
    await expectCounting(await forked(await forked(env)))
    await run(env, `kill -9 ${foreign.pid}`)
    await env.restore('first')
    await expectCounting(env)
    await env.pause()
    await env.resume()
    await expectUnharmed(foreign, before)
    expect(readdirSync(foreign.workdir)).toEqual(['numbers'])
  })
})

describe('a process', () => {
  test('has no more rights in its cell than any other process there', async () => {
    using foreign = await counting()
    const env = await fp.attach({ target: foreign.pid })
    const walls = (pid: number | string) =>
      run(env, `grep -E '^(Cap|Seccomp|NoNewPrivs)' /proc/${pid}/status`)
    expect(await walls(foreign.pid)).toBe(await walls(1))
    expect(await walls(foreign.pid)).toContain('Seccomp_filters:\t1')
    const limits = (pid: number) => run(env, `grep -E 'open files|priority' /proc/${pid}/limits`)
    expect(await limits(foreign.pid)).toBe(await limits(1))
  })

  test('keeps its threads, children, sockets and a log outside its directory', async () => {
    const log = files.file('log')
    const script = `
import os, socket, subprocess, threading, time
server = socket.socket(); server.bind(('127.0.0.1', 4711)); server.listen()
log = open('${log}', 'w', 1)
child = subprocess.Popen(['sleep', '1000'])
def answer():
    while True: server.accept()[0].sendall(b'answered')
threading.Thread(target=answer, daemon=True).start()
n = 0
open('ready', 'w')
while True: n += 1; log.write(f'{n}\\n'); print(n, flush=True); time.sleep(0.002)`
    // A pipe to this program, which copies must not write to.
    using foreign = await started(script, { stdio: 'pipe' })
    foreign.child.stdout?.resume()
    const before = factsOf(foreign.pid)
    const env = await fp.attach({ target: foreign.pid })
    const copy = await forked(env)
    for (const each of [env, copy]) {
      const connect = 'exec 5<>/dev/tcp/127.0.0.1/4711; cat <&5; exec 5<&-'
      expect(await run(each, connect)).toBe('answered')
      const [, ...below] = treeOf(foreign.pid)
      expect(await run(each, `ps -o args= --ppid ${foreign.pid}`)).toBe('sleep 1000\n')
      expect(below.length).toBe(1)
      expect(await run(each, `readlink /proc/${foreign.pid}/fd/1`)).toBe('/dev/null\n')
      const seen = numbersIn(await run(each, `head -n -1 ${log}`))
      expect(seen).toEqual(seen.map((_, index) => index + 1))
    }
    await expect.poll(() => factsOf(foreign.pid)).toEqual(before)
    const logged = numbersIn(readFileSync(log, 'utf8')).slice(0, -1)
    expect(logged).toEqual(logged.map((_, index) => index + 1))
  })

  test('of a session that another process leads has its own in the cell', async () => {
    const script = `
import os, subprocess, sys
code = "import time; open('ready','w').close(); time.sleep(1000)"
subprocess.Popen([sys.executable, '-c', code], stdin=subprocess.DEVNULL).wait()`
    using outer = await started(script)
    const [, pid = 0] = treeOf(outer.pid)
    const before = factsOf(pid)
    const env = await fp.attach({ target: pid })
    const copy = await forked(env)
    expect(await run(copy, `ps -o pid=,sid=,pgid= ${pid} | xargs`)).toBe(`${pid} ${pid} ${pid}\n`)
    expect(factsOf(pid)).toEqual(before)
  })

  test('that is process 1 of its namespace gets another number, and knows it', async () => {
    const script = `
import os, signal, subprocess, threading, time
os.setsid()
for fd in range(3): os.dup2(os.open('/dev/null', os.O_RDWR), fd)
for words in (['ip', 'link', 'set', 'lo', 'up'], ['mount', '-t', 'proc', 'proc', '/proc']): subprocess.run(words, check=True)
def note(*_): open('signalled', 'a').write(f'{os.getpid()}\\n')
signal.signal(signal.SIGUSR1, note)
def ask():
    while True:
        if os.path.exists('ask'): os.remove('ask'); signal.pthread_kill(main, signal.SIGUSR1)
        time.sleep(0.01)
main = threading.main_thread().ident
threading.Thread(target=ask, daemon=True).start()
open('ready', 'w').close()
while True: time.sleep(0.01)`
    using outer = await started(
      `import os; os.execvp('unshare', ['unshare', '-p', '-m', '-n', '-f', '/usr/bin/python3', '-c', ${JSON.stringify(script)}])`,
    )
    const [, pid = 0] = treeOf(outer.pid)
    const before = factsOf(pid)
    const env = await fp.attach({ target: pid })
    expect(await run(env, 'pgrep -x python3')).toBe('2\n')
    await run(env, 'touch ask; until [ -s signalled ]; do sleep 0.01; done')
    expect(await run(env, 'cat signalled')).toBe('2\n')
    await forked(env)
    expect(factsOf(pid)).toEqual(before)
  })

  test('that cannot be moved is refused with a remedy, and left as it was', async () => {
    const attach = (target: string | number, workdir?: string) =>
      fp.attach({ target, ...(workdir && { workdir }) })
    await expect(attach('pid:0')).rejects.toMatchObject({ remedy: /pid, such as 1234/ })
    await expect(attach(4_194_304)).rejects.toMatchObject({ code: 'not_found' })
    await expect(attach(process.pid)).rejects.toMatchObject({ remedy: /another terminal/ })
    const pty = `
import os, pty, time
pid, fd = pty.fork()
if pid == 0: open('ready', 'w').close(); time.sleep(1000)
while True: os.read(fd, 1)`
    using typed = await started(pty)
    const [, below = 0] = treeOf(typed.pid)
    const before = [factsOf(typed.pid), factsOf(below)]
    await expect(attach(below)).rejects.toMatchObject({ message: /terminal \/dev\/pts/ })
    expect([factsOf(typed.pid), factsOf(below)]).toEqual(before)
    expect(await fp.list()).toEqual([])
  })

  test('with a file open that environments must not see is refused', async () => {
    const secret = join(home.path, 'secret')
    mkdirSync(home.path, { recursive: true })
    writeFileSync(secret, 'secret\n')
    using foreign = await started(
      `import time; file = open('${secret}'); open('ready', 'w').close(); time.sleep(1000)`,
    )
    const before = factsOf(foreign.pid)
    await expect(fp.attach({ target: foreign.pid })).rejects.toMatchObject({
      message: /hides from environments/,
      remedy: /mask\.remove/,
    })
    expect(factsOf(foreign.pid)).toEqual(before)
  })
})

describe('a Forkpoint killed while it adopts a process', () => {
  test.each(['attach:noted', 'attach:brought', 'attach:alive', 'attach:instance'] as const)(
    'at %s leaves nothing behind',
    async (point: KillPoint) => {
      using foreign = await counting({ uid: nobody })
      const before = factsOf(foreign.pid)
      const words = [program, 'native', home.path, 'attach', String(foreign.pid)]
      const { signal, stderr } = spawnSync(process.execPath, words, {
        env: { ...process.env, NODE_NO_WARNINGS: '1', FORKPOINT_KILL_AT: point },
        encoding: 'utf8',
      })
      expect({ signal, stderr }).toEqual({ signal: 'SIGKILL', stderr: '' })
      await using opened = await openForkpoint('native', home.path)
      expect(await opened.fp.list()).toEqual([])
      expect(await opened.remnants()).toEqual([])
      await expectUnharmed(foreign, before)
    },
  )
})
