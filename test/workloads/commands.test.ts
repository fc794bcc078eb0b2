import { afterAll, afterEach, describe, expect, test } from 'vitest'
import type { Command, Environment } from '../../src/index.ts'
import { TestHome } from '../support/test-home.ts'
import { see, type, typeAndSee } from '../support/workloads/terminal.ts'

const home = new TestHome('commands')
afterAll(() => home[Symbol.asyncDispose]())
afterEach(() => home.removeAll())
const fp = await home.open()

const lineCount = 30
const counting = `for i in $(seq 1 ${lineCount}); do echo out $i; echo err $i >&2; sleep 0.05; done; exit 3`
const allOf = (stream: string) =>
  Array.from({ length: lineCount }, (_, index) => `${stream} ${index + 1}\n`).join('')

/** All output of a command from the offsets `stdout` and `stderr` on, and how it ends. */
async function toEnd(
  command: Command,
): Promise<{ stdout: string; stderr: string; exitCode: number | null }> {
  const collect = async (output: AsyncIterable<Buffer>) => {
    let text = ''
    for await (const chunk of output) text += chunk
    return text
  }
  const [stdout, stderr, { exitCode }] = await Promise.all([
    collect(command.stdout),
    collect(command.stderr),
    command.wait(),
  ])
  return { stdout, stderr, exitCode }
}

/** Reads until some output has arrived, when the command is half-way. */
async function readSome(command: Command): Promise<string> {
  let text = ''
  while (text.split('\n').length < 5) text += await command.stdout.read()
  return text
}

const everywhere = { stdout: allOf('out'), stderr: allOf('err'), exitCode: 3 }

describe('a command that runs when a snapshot is taken', () => {
  test.each([
    ['in a shell', (env: Environment) => env.spawn(`(${counting})`, { id: 'count' })],
    [
      'as a process',
      (env: Environment) => env.spawn(['bash', '-c', counting], { mode: 'process', id: 'count' }),
    ],
  ])('%s, continues in every branch and is read to its end by the same id', async (_, spawn) => {
    const env = await fp.create()
    const command = await spawn(env)
    await readSome(command)
    const forks = await env.fork(2)
    const ends = await Promise.all(
      [env, ...forks].map(async (branch) => toEnd(await branch.command('count'))),
    )
    expect(ends).toEqual([everywhere, everywhere, everywhere])
  })

  test('is still followed by the call that started it', async () => {
    const env = await fp.create()
    const running = env.exec(`(${counting})`)
    for (let taken = 0; taken < 3; taken += 1) await env.snapshot()
    expect(await running).toMatchObject(everywhere)
  })

  test('is read from where its reader was', async () => {
    const env = await fp.create()
    const command = await env.spawn(['bash', '-c', counting], { mode: 'process', id: 'count' })
    const before = await readSome(command)
    const { stdout } = command.offsets
    await env.snapshot()
    const { stdout: after } = await toEnd(await env.command('count', { stdout, stderr: 0 }))
    expect(before + after).toBe(allOf('out'))
  })

  test('keeps the state of its shell, in every branch', async () => {
    const env = await fp.create()
    await env.exec('cd /usr/share; x=kept')
    const command = await env.spawn('sleep 0.5; x=changed', { id: 'slow' })
    await command.pid
    const forks = await env.fork(2)
    for (const branch of [env, ...forks]) {
      await toEnd(await branch.command('slow'))
      expect((await branch.exec('echo $PWD $x')).stdout).toBe('/usr/share changed\n')
    }
  })
})

describe('an interactive terminal', () => {
  test('shows the same in every branch, and then what happens in each', async () => {
    const env = await fp.create()
    await env
      .terminal('desk')
      .attach({ argv: ['bash', '--norc'], env: { PS1: '$ ' }, cols: 90, rows: 20 })
    await typeAndSee(env, 'desk', 'x=41; echo one; echo half a li', /half a li$/m)
    const screen = await env.terminal('desk').screen()
    const forks = await env.fork(2)
    for (const [index, branch] of [env, ...forks].entries()) {
      expect(await branch.terminal('desk').screen()).toEqual(screen)
      await type(branch, 'desk', `ne; echo branch ${index} $((x + 1))\r`)
      await see(branch, 'desk', new RegExp(`^one\nhalf a line\nbranch ${index} 42$`, 'm'))
    }
  })

  test('can be attached to again after a restore, where it was', async () => {
    const env = await fp.create()
    await env.terminal('desk').attach({ argv: ['bash', '--norc'], env: { PS1: '$ ' } })
    await typeAndSee(env, 'desk', 'word=before\r', /before/)
    const base = await env.snapshot()
    await typeAndSee(env, 'desk', 'word=after; clear; echo cleared\r', /^cleared$/m)
    await env.restore(base)
    await typeAndSee(env, 'desk', 'echo "<$word>"\r', /word=before[\s\S]*^<before>$/m)
  })
})
