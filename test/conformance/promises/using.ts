import assert from 'node:assert/strict'
import { buffer } from 'node:stream/consumers'
import type { Terminal } from '../../../src/index.ts'
import { InvalidInputError } from '../../../src/model/errors.ts'
import { type BackendPromise, run, until } from './promise.ts'

/** What is typed has quotes in it, so that it is not mistaken for the answer. */
async function shows(terminal: Terminal, text: string): Promise<void> {
  await until(`the terminal shows ${text}`, async () =>
    (await terminal.screen()).lines.join('\n').includes(text),
  )
}

/** Commands and terminals mean the same everywhere. */
export const using: readonly BackendPromise[] = [
  {
    title: 'a process of its own has words, input, a directory, variables and an exit code',
    needs: [],
    keeps: async (subject) => {
      const env = await subject.create()
      const script = 'echo "$1"; cat; pwd; echo $TINT; exit 4'
      const { exitCode, stdout } = await env.exec(['bash', '-c', script, 'bash', 'a  b'], {
        mode: 'process',
        stdin: 'given\n',
        cwd: '/',
        env: { TINT: 'red' },
      })
      assert.deepEqual({ exitCode, stdout }, { exitCode: 4, stdout: 'a  b\ngiven\n/\nred\n' })
    },
  },
  {
    title: 'a command that takes too long ends, and its shell continues',
    needs: [],
    keeps: async (subject) => {
      const env = await subject.create()
      await run(env, 'kept=yes')
      assert.equal((await env.exec('sleep 1000', { timeoutMs: 300 })).timedOut, true)
      assert.equal(await run(env, 'echo $kept'), 'yes\n')
    },
  },
  {
    title: 'shells have states of their own, and a command can be followed while it runs',
    needs: [],
    keeps: async (subject) => {
      const env = await subject.create()
      await run(env, 'mine=main')
      const other = await env.exec('echo "[$mine]"', { shell: 'other' })
      assert.equal(other.stdout, '[]\n')
      const command = await env.spawn(['cat'], { mode: 'process', stdin: 'streamed' })
      await command.writeStdin('typed\n')
      await command.endStdin()
      assert.equal((await buffer(command.stdout)).toString(), 'typed\n')
      command.stderr.discard()
      assert.equal((await command.wait()).exitCode, 0)
    },
  },
  {
    title: 'a terminal shows what its programs print',
    needs: [],
    keeps: async (subject) => {
      const env = await subject.create()
      await env.exec(':')
      const before = (await env.stats()).terminals
      const terminal = env.terminal('work')
      await terminal.write("echo scr''een\n")
      await shows(terminal, 'screen')
      const after = (await env.stats()).terminals
      assert.ok(
        before === null ? after === null : before === 0 && after === 1,
        `${before}, ${after}`,
      )
    },
  },
  {
    title: 'a terminal keeps its screen and its foreground job in a fork',
    needs: ['terminal', 'fork'],
    keeps: async (subject) => {
      const env = await subject.create()
      const terminal = env.terminal('work')
      await terminal.write("echo scr''een; cat\n")
      await shows(terminal, 'screen')
      await terminal.write('first\n')
      await shows(terminal, 'first\nfirst')
      const [fork] = await env.fork(1)
      assert.ok(fork)
      const copied = fork.terminal('work')
      await shows(copied, 'screen')
      await copied.write('second\n')
      await shows(copied, 'second\nsecond')
    },
  },
  {
    title: 'bad input is refused before anything happens',
    needs: [],
    keeps: async (subject) => {
      const env = await subject.create({ name: 'good' })
      const bad: readonly (() => Promise<unknown>)[] = [
        () => subject.create({ name: '../up' }),
        () => subject.create({ from: 'nowhere:at-all' }),
        () => subject.create({ env: { 'A=B': 'x' } }),
        () => env.exec('true', { timeoutMs: -1 }),
        () => env.exec('tr\0ue'),
        () => env.snapshot({ name: 'a b' }),
        () => env.fork(0),
        () => env.rename(''),
      ]
      for (const ask of bad) await assert.rejects(ask, InvalidInputError)
      assert.equal(await run(env, 'echo fine'), 'fine\n')
      assert.deepEqual((await subject.forkpoint.list()).length, 1)
      assert.deepEqual(await subject.snapshots(), [])
    },
  },
]
