import { afterAll, describe, expect, test } from 'vitest'
import { type Command, ConflictError, type TerminalViewer } from '../../../src/index.ts'
import { TestHome } from '../../support/test-home.ts'

const home = new TestHome('following')
afterAll(() => home[Symbol.asyncDispose]())
const fp = await home.open()

const lines = Array.from({ length: 40 }, (_, index) => `line ${index + 1}\n`)
const counting = 'for i in $(seq 1 40); do echo line $i; echo err $i >&2; sleep 0.05; done; exit 7'

async function textOf(output: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of output) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

/** Both streams whole, and how it ended. */
async function all(command: Command) {
  const [stdout, stderr, { exitCode }] = await Promise.all([
    textOf(command.stdout),
    textOf(command.stderr),
    command.wait(),
  ])
  return { stdout, stderr, exitCode }
}

const whole = {
  stdout: lines.join(''),
  stderr: lines.join('').replaceAll('line', 'err'),
  exitCode: 7,
}

describe('whoever holds a command', () => {
  test('reads all of it across snapshots, without attaching again', async () => {
    const env = await fp.create()
    const command = await env.spawn(['bash', '-c', counting], { mode: 'process' })
    const reading = all(command)
    for (let taken = 0; taken < 3; taken += 1) await env.snapshot()
    expect(await reading).toEqual(whole)
    await env.remove()
  })

  test('continues to read after a restore, from where the snapshot was', async () => {
    const env = await fp.create()
    // It prints nothing between the snapshot and the restore: that would be printed again.
    const waiting = counting.replace(
      'do ',
      'do until [ $i -ne 20 -o -e /tmp/go ]; do sleep 0.05; done; ',
    )
    const command = await env.spawn(['bash', '-c', waiting], { mode: 'process' })
    const seen: Buffer[] = []
    const reading = (async () => {
      for await (const chunk of command.stdout) seen.push(chunk)
    })()
    command.stderr.discard()
    await expect.poll(() => Buffer.concat(seen).toString()).toContain('line 19\n')
    const taken = await env.snapshot()
    await env.restore(taken)
    await env.exec('touch /tmp/go')
    await reading
    expect(Buffer.concat(seen).toString()).toBe(whole.stdout)
    expect(await command.wait()).toMatchObject({ exitCode: 7 })
    await env.remove()
  })

  test.each(['process', 'shell'] as const)(
    'feeds it across snapshots, and reads what it answers (%s)',
    async (mode) => {
      const env = await fp.create()
      const echo = 'while read line; do echo got $line; echo err $line >&2; done; (exit 5)'
      const options = mode === 'process' ? ({ mode } as const) : ({ mode, shell: 'own' } as const)
      const command = await env.spawn(echo, { ...options, stdin: 'streamed' })
      const reading = all(command)
      await command.writeStdin('line 0\n')
      for (let taken = 1; taken <= 4; taken += 1) {
        await env.snapshot()
        await command.writeStdin(`line ${taken}\n`)
      }
      await env.snapshot()
      await command.endStdin()
      const said = Array.from({ length: 5 }, (_, index) => `got line ${index}\n`).join('')
      expect(await reading).toEqual({
        stdout: said,
        stderr: said.replaceAll('got', 'err'),
        exitCode: 5,
      })
      await env.remove()
    },
  )

  test('gets an error when it no longer exists', async () => {
    const env = await fp.create()
    const before = await env.snapshot()
    const command = await env.spawn('sleep 60', { mode: 'process' })
    await command.pid
    const ended = command.wait()
    await env.restore(before)
    await expect(ended).rejects.toMatchObject({ code: 'not_found' })
    await env.remove()
  })

  test('can signal it after a snapshot, and detach from it', async () => {
    const env = await fp.create()
    const command = await env.spawn('sleep 60', { mode: 'process' })
    await command.pid
    await env.snapshot()
    await command.signal('SIGTERM')
    expect(await command.wait()).toMatchObject({ signal: 'SIGTERM' })
    const other = await env.spawn('sleep 60', { mode: 'process' })
    const waiting = other.wait()
    other.detach()
    await expect(waiting).rejects.toBeInstanceOf(ConflictError)
    expect(await env.commands()).toContainEqual(
      expect.objectContaining({ id: other.id, running: true }),
    )
    await env.remove()
  })
})

/** Until `wanted` was shown. */
async function shown(viewer: TerminalViewer, wanted: string): Promise<string> {
  let text = ''
  for await (const chunk of viewer.data()) {
    text += chunk.toString()
    if (text.includes(wanted)) return text
  }
  throw new Error(`the terminal ended without ${wanted}: ${text}`)
}

describe('whoever views a terminal', () => {
  test('sees its screen again after a snapshot, and what follows', async () => {
    const env = await fp.create()
    const viewer = await env.terminal('desk').attach({ cols: 90, rows: 30 })
    await viewer.write('echo before-$((40+2))\n')
    await shown(viewer, 'before-42')
    await env.snapshot()
    await viewer.resize({ cols: 70, rows: 20 })
    await viewer.write('stty size; echo after-$((40+2))\n')
    const text = await shown(viewer, 'after-42')
    // The screen is drawn again in place, without the programs' modes first.
    expect(text).toContain('\x1b[?1049l')
    expect(text).toContain('before-42')
    expect(text).toContain('20 70')
    viewer.detach()
    await env.remove()
  })

  test('gets an error when the environment is removed', async () => {
    const env = await fp.create()
    const viewer = await env.terminal('desk').attach()
    const ended = viewer.exit
    await env.remove()
    // It is being removed, or it is gone already.
    await expect(ended).rejects.toMatchObject({ code: expect.stringMatching(/conflict|not_found/) })
  })

  test('learns how its program ended, even across a snapshot', async () => {
    const env = await fp.create()
    const viewer = await env.terminal('desk').attach()
    await env.snapshot()
    await viewer.write('exit 5\n')
    expect(await viewer.exit).toMatchObject({ exitCode: 5 })
    await env.remove()
  })
})

describe('a handle of another process', () => {
  test('talks to the life that runs, not to the one that a restore replaced', async () => {
    await using other = await home.open()
    const env = await fp.create()
    const theirs = await other.get(env.id)
    await env.exec('x=first')
    const taken = await env.snapshot()
    await env.exec('x=later')
    expect((await theirs.exec('echo $x')).stdout).toBe('later\n')
    await env.restore(taken)
    expect((await theirs.exec('echo $x')).stdout).toBe('first\n')
    await env.remove()
  })
})
