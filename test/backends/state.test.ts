import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Environment } from '../../src/index.ts'
import { makeSmallRootfs } from '../support/small-rootfs.ts'
import { TemporaryDirectory } from '../support/temporary-directory.ts'
import { type Opened, openForkpoint } from './support/open-forkpoint.ts'

/** Appends what it counts in memory: one number too many or too few shows that file and memory disagree. */
const writer = `
import itertools
for number in itertools.count(1):
    with open('numbers', 'a') as file: file.write(f'{number}\\n')
`

let files: TemporaryDirectory
beforeAll(() => {
  files = new TemporaryDirectory()
  mkdirSync(files.file('w'))
  writeFileSync(files.file('w/given.txt'), 'given\n')
})
afterAll(() => files[Symbol.dispose]())

async function run(env: Environment, command: string): Promise<string> {
  const { stdout, stderr, exitCode } = await env.exec(command)
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
  return stdout
}

async function lastOf(env: Environment): Promise<number> {
  return Number(await run(env, 'tail -n 1 numbers'))
}

describe.each(['gvisor', 'criu'] as const)('an environment of %s', (backend) => {
  let home: string
  let opened: Opened
  beforeAll(async () => {
    home = mkdtempSync(join(process.env.FORKPOINT_HOME ?? '/var/tmp', 'state-'))
    opened = await openForkpoint(backend, home)
  })
  afterAll(async () => {
    for (const env of await opened.fp.list()) await env.remove()
    await opened.fp.prune()
    await opened[Symbol.asyncDispose]()
    await rm(home, { recursive: true })
  })
  const create = () => opened.fp.create({ from: `dir:${files.file('w')}` })

  test('has files and memory that agree in every fork, over two generations', async () => {
    const env = await create()
    await env.spawn(['python3', '-c', writer], { mode: 'process' })
    await expect
      .poll(() => env.exec('tail -n 1 numbers').then((r) => Number(r.stdout)))
      .toBeGreaterThan(50)
    const [child] = await env.fork(1)
    const [grandchild] = (await child?.fork(1)) ?? []
    for (const each of [env, child, grandchild]) {
      if (each === undefined) throw new Error('no fork')
      const before = await lastOf(each)
      await expect.poll(() => lastOf(each)).toBeGreaterThan(before + 10)
      await run(each, 'cp numbers seen')
      const seen = (await run(each, 'cat seen')).trim().split('\n').map(Number)
      expect(seen).toEqual(seen.map((_, index) => index + 1))
    }
  })

  test('keeps a terminal with its screen and its foreground job in a fork', async () => {
    const env = await create()
    const terminal = env.terminal('work')
    await terminal.write("echo sc''reen; python3 -q\n")
    await expect
      .poll(async () => (await terminal.screen()).lines.join('\n'))
      .toMatch(/screen\n(.*\n)*.*>>>/)
    await terminal.write('kept = 40 + 1\n')
    const [fork] = await env.fork(1)
    const copied = fork?.terminal('work')
    expect((await copied?.screen())?.lines.join('\n')).toContain('screen')
    await copied?.write('print("is", kept + 1)\n')
    await expect.poll(async () => (await copied?.screen())?.lines.join('\n')).toContain('is 42')
  })

  test('has a server whose port is reached in every copy', async () => {
    const env = await create()
    await env.spawn(['python3', '-m', 'http.server', '8123'], { mode: 'process' })
    const [fork] = await env.fork(1)
    for (const each of [env, fork]) {
      if (each === undefined) throw new Error('no fork')
      await using forward = await each.ports.forward(8123)
      await expect
        .poll(() => fetch(`http://127.0.0.1:${forward.port}/given.txt`).then((r) => r.text()))
        .toBe('given\n')
    }
  })

  test('takes a snapshot although another process is connected', async () => {
    const env = await create()
    await run(env, 'value=kept')
    await using other = await openForkpoint(backend, home)
    const same = await other.fp.get(env.id)
    expect(await run(same, 'echo $value')).toBe('kept\n')
    const [fork] = await (await env.snapshot()).fork(1)
    if (fork === undefined) throw new Error('no fork')
    expect(await run(fork, 'echo $value')).toBe('kept\n')
    expect(await run(same, 'echo $value')).toBe('kept\n')
  })

  test('keeps processes of other users, and open files that lost a name', async () => {
    const env = await create()
    const asNobody = 'setpriv --reuid 65534 --regid 65534 --clear-groups'
    await env.exec(`${asNobody} sleep 1000 > /dev/null 2>&1 & echo $! > pid; sleep 0.2`)
    await run(env, 'echo kept > a; ln a b; exec 9<a; rm a')
    const [fork] = await env.fork(1)
    if (fork === undefined) throw new Error('no fork')
    expect(await run(fork, 'stat -c %u /proc/$(cat pid); cat <&9; echo *')).toBe(
      '65534\nkept\nb given.txt pid\n',
    )
    expect(await run(env, 'echo *')).toBe('b given.txt pid\n')
  })

  test('has no effect on the directory that it was made from', async () => {
    const env = await create()
    await run(env, 'echo more > more; rm given.txt')
    expect(readdirSync(files.file('w'))).toEqual(['given.txt'])
    expect(readFileSync(files.file('w/given.txt'), 'utf8')).toBe('given\n')
  })
})

describe('gvisor', () => {
  test('adds nothing to a root file system that it starts from', async () => {
    const home = mkdtempSync(join(process.env.FORKPOINT_HOME ?? '/var/tmp', 'state-'))
    mkdirSync(files.file('rootfs'))
    makeSmallRootfs(files.file('rootfs'))
    const before = readdirSync(files.file('rootfs')).sort()
    {
      await using opened = await openForkpoint('gvisor', home)
      const env = await opened.fp.create({ from: `rootfs:${files.file('rootfs')}` })
      await run(env, 'echo new > /new')
      await env.remove()
    }
    expect(readdirSync(files.file('rootfs')).sort()).toEqual(before)
    await rm(home, { recursive: true })
  })

  test('names a missing runsc, with a remedy', async () => {
    const home = mkdtempSync(join(process.env.FORKPOINT_HOME ?? '/var/tmp', 'state-'))
    {
      await using opened = await openForkpoint('gvisor', home, { 'gvisor.runsc': '/nonexistent' })
      const [check] = await opened.check()
      expect(check).toMatchObject({ name: 'gvisor', status: 'warn' })
      expect(check?.found).toContain('/nonexistent')
      expect(check?.remedy).toContain('doctor --fix')
      await expect(opened.fp.create({ from: 'host' })).rejects.toMatchObject({
        code: 'prerequisite',
      })
    }
    await rm(home, { recursive: true })
  })
})
