import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CliHome, finished, firstLine, untilShown } from './cli-home.ts'

let cli: CliHome

beforeAll(async () => {
  cli = new CliHome()
  await cli.must('create', '--name', 'web')
})
afterAll(() => cli[Symbol.asyncDispose]())

const exec = (...args: string[]) => cli.run(['exec', 'web', ...args])

describe('a command', () => {
  test('passes stdout, stderr and its exit code through', async () => {
    const ran = await exec('--', 'echo out; echo err >&2; (exit 77)')
    expect(ran).toMatchObject({ exitCode: 77, stdout: 'out\n', stderr: 'err\n' })
  })

  test('that a signal ended gives 128 + its number', async () => {
    expect((await exec('--process', '--', 'kill -TERM $$')).exitCode).toBe(143)
  })

  test('of one argument is a shell line, of several is passed exactly', async () => {
    expect((await exec('--', 'echo $((6 * 7))')).stdout).toBe('42\n')
    const words = ['%s|', '$HOME', 'a  b', "it's", '', '*', 'new\nline', '-n', '--json']
    const expected = words
      .slice(1)
      .map((word) => `${word}|`)
      .join('')
    expect((await exec('--', 'printf', ...words)).stdout).toBe(expected)
    expect((await exec('--process', '--', 'printf', ...words)).stdout).toBe(expected)
  })

  test('finds the directory and variables that an earlier one left in its shell', async () => {
    await exec('--', 'cd /usr/lib && export MODE=debug')
    expect((await exec('--', 'pwd; echo $MODE')).stdout).toBe('/usr/lib\ndebug\n')
    expect((await exec('--shell', 'other', '--', 'pwd; echo $MODE')).stdout).toBe('/root\n\n')
    expect((await exec('--process', '--', 'pwd; echo $MODE')).stdout).toBe('/root\n\n')
    expect((await exec('--cwd', '/etc', '-e', 'MODE=x', '--', 'pwd; echo $MODE')).stdout).toBe(
      '/etc\nx\n',
    )
    expect((await exec('--', 'pwd; echo $MODE')).stdout).toBe('/usr/lib\ndebug\n')
  })

  test('runs as another user in process mode', async () => {
    expect(
      (await exec('--process', '--user', 'nobody', '--cwd', '/', '--', 'id', '-un')).stdout,
    ).toBe('nobody\n')
  })

  test('is ended after its timeout, with exit code 124', async () => {
    const startedAt = performance.now()
    expect((await exec('--timeout', '300ms', '--', 'sleep 60')).exitCode).toBe(124)
    expect(performance.now() - startedAt).toBeLessThan(10_000)
    expect((await exec('--', 'echo alive')).stdout).toBe('alive\n')
  })

  test('--json is one document with the output, also when that is not text', async () => {
    const { exitCode, document } = await cli.json('exec', 'web', '--', 'printf "a\\xff"; exit 3')
    expect(exitCode).toBe(3)
    expect(document).toMatchObject({ exitCode: 3, signal: null, timedOut: false, shellGone: true })
    expect(Buffer.from(document.stdoutBase64, 'base64')).toEqual(Buffer.from([0x61, 0xff]))
    const text = (await cli.json('exec', 'web', '--', 'echo grüße')).document
    expect(text.stdout).toBe('grüße\n')
    expect(text).not.toHaveProperty('stdoutBase64')
  })
})

describe('stdin', () => {
  const binary = Buffer.concat([Buffer.from([0, 255, 10, 13, 4, 26]), randomBytes(3_000_000)])

  test.each([[[]], [['--process']]])('is passed on byte for byte when piped (%j)', async (mode) => {
    const ran = await cli.run(['exec', 'web', ...mode, '--', 'cat'], { stdin: binary })
    expect(ran.exitCode).toBe(0)
    expect(ran.bytes.equals(binary)).toBe(true)
  })

  test('that is /dev/null is empty inside, too', async () => {
    expect((await exec('--', 'cat; echo end')).stdout).toBe('end\n')
  })

  test('that nobody writes to does not keep a finished command alive', async () => {
    const startedAt = performance.now()
    const ran = await cli.run(['exec', 'web', '--', 'echo done'], { stdin: 'idle' })
    expect(ran).toMatchObject({ exitCode: 0, stdout: 'done\n' })
    expect(performance.now() - startedAt).toBeLessThan(10_000)
  })

  test('arrives while it is being written', async () => {
    const child = cli.start(['exec', 'web', '--', 'head -n 1'], { stdin: 'idle' })
    child.stdin?.write('first\n')
    expect(await firstLine(child)).toBe('first')
    child.stdin?.end()
  })
})

describe('an interrupted exec', () => {
  test('ends the command inside and exits with 130', async () => {
    const child = cli.start(['exec', 'web', '--', 'echo started; sleep 1234'])
    const ended = finished(child)
    await untilShown(child.stdout, /started/)
    child.kill('SIGINT')
    // On a busy machine it may take longer than anybody waits for it, which is said.
    expect((await ended).exitCode).toBe(130)
    expect((await exec('--', 'pgrep -f "sleep 123[4]"')).exitCode).toBe(1)
  })

  test('ends quietly when nobody reads its output', async () => {
    const script = 'forkpoint exec web -- yes | head -n 1; echo $PIPESTATUS'
    const ran = await cli.run([], { command: ['bash', '-c', script] })
    expect(ran).toMatchObject({ stdout: 'y\n141\n', stderr: '' })
    expect((await exec('--', 'pgrep -x yes')).exitCode).toBe(1)
  })

  test('says so when its output cannot be written', async () => {
    const script = 'forkpoint exec web -- "echo x" > /dev/full'
    const ran = await cli.run([], { command: ['sh', '-c', script] })
    expect(ran.exitCode).toBe(1)
    expect(ran.stderr).toContain('cannot write the output: ENOSPC')
    expect(ran.stderr).toContain('remedy: ')
  })

  test('passes on output no faster than it is read', async () => {
    const child = cli.start(['exec', 'web', '--process', '--', 'head -c 50000000 /dev/zero'])
    await sleep(1000)
    const ran = await finished(child)
    expect(ran.exitCode).toBe(0)
    expect(ran.bytes.length).toBe(50_000_000)
  })
})

describe('a detached command', () => {
  test('keeps running, and its output and exit code are found by its id', async () => {
    const id = (
      await exec('--detach', '--', 'echo one; sleep 1; echo two >&2; (exit 5)')
    ).stdout.trim()
    const ran = await exec('--attach', id)
    expect(ran).toMatchObject({ exitCode: 5, stdout: 'one\n', stderr: 'two\n' })
  })

  test('keeps running when its follower is interrupted', async () => {
    const command = 'echo on; until [ -e /root/off ]; do sleep 0.05; done; echo off'
    const id = (await exec('--process', '--detach', '--', command)).stdout.trim()
    const follower = cli.start(['exec', 'web', '--attach', id])
    const ended = finished(follower)
    await untilShown(follower.stdout, /on/)
    follower.kill('SIGINT')
    expect(await ended).toMatchObject({ exitCode: 130, stdout: 'on\n' })
    await exec('--', 'touch /root/off')
    expect((await exec('--attach', id)).stdout).toContain('off\n')
  })
})
