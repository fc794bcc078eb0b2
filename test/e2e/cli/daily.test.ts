import { mkdirSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TemporaryDirectory } from '../../support/temporary-directory.ts'
import { CliHome, finished, untilShown } from './cli-home.ts'

// What somebody types who lives in an environment, once in this process and once through a daemon.

describe.each(['embedded', 'through a daemon'])('a day in an environment, %s', (how) => {
  let cli: CliHome

  beforeAll(async () => {
    cli = new CliHome()
    await cli.must('create', '--name', 'web')
    if (how !== 'embedded') await cli.must('serve', '--detach')
    await cli.must('exec', 'web', '--', 'cd /srv; word=kept; greet() { echo "$word in $PWD"; }')
  })
  afterAll(async () => {
    if (how !== 'embedded') await cli.run(['serve', '--stop'])
    await cli[Symbol.asyncDispose]()
  })

  const until = async (isSo: () => Promise<boolean>) => {
    while (!(await isSo())) await sleep(50)
  }

  test('a detached command has the state of the shell, and the shell is free at once', async () => {
    const id = (await cli.must('exec', 'web', '-d', '--', 'greet; sleep 1000')).trim()
    expect(await cli.must('exec', 'web', '--', 'greet')).toBe('kept in /srv\n')
    await until(async () => (await cli.must('logs', 'web', id)) === 'kept in /srv\n')
    const { document } = await cli.json('ps', 'web')
    expect(document.commands).toMatchObject([{ id, mode: 'detached', running: true }])
    const lines = document.processes.map(({ command }: { command: string }) => command)
    expect(lines).toEqual(expect.arrayContaining(['sleep 1000']))
    expect(await cli.must('ps', 'web')).toMatch(
      new RegExp(`${id} +running .* copy of main +greet;`),
    )
    expect(await cli.must('kill', 'web', id)).toBe(`sent SIGTERM to ${id}\n`)
    await until(async () => (await cli.must('ps', 'web', '-q')) === '')
    expect(await cli.must('ps', 'web', '-a')).toMatch(new RegExp(`${id} +SIGTERM`))
    expect((await cli.run(['kill', 'web', 'nosuch'])).exitCode).toBe(3)
    expect((await cli.run(['logs', 'web', 'nosuch'])).exitCode).toBe(3)
  })

  test('logs -f follows a command to its end, and disturbs nobody who follows it', async () => {
    const line = 'echo one; read -r _ </tmp/go; echo two; (exit 7)'
    await cli.must('exec', 'web', '--', 'rm -f /tmp/go; mkfifo /tmp/go')
    const follower = cli.start(['exec', 'web', '--', line])
    const [ended, shown] = [finished(follower), untilShown(follower.stdout, /one\n/)]
    await shown
    const id = (await cli.must('ps', 'web', '-q')).trim()
    expect(await cli.must('logs', 'web', id)).toBe('one\n')
    const reader = cli.start(['logs', 'web', id, '-f'])
    const along = finished(reader)
    await untilShown(reader.stdout, /one\n/)
    await cli.must('exec', 'web', '--process', '--', 'echo >/tmp/go')
    expect(await along).toMatchObject({ stdout: 'one\ntwo\n', exitCode: 7 })
    expect(await ended).toMatchObject({ stdout: 'one\ntwo\n', stderr: '', exitCode: 7 })
  })

  test('an exec that waits says for which command', async () => {
    const first = cli.start(['exec', 'web', '--', 'echo begun; sleep 1000'])
    const ended = finished(first)
    await untilShown(first.stdout, /begun/)
    const second = cli.start(['exec', 'web', '--', 'echo mine'])
    const waited = finished(second)
    await untilShown(second.stderr, /waiting for c-\S+ \(echo begun; sleep 1000\)/)
    const id = (await cli.must('ps', 'web', '-q')).trim().split('\n')[0] ?? ''
    await cli.must('kill', 'web', id, '-s', 'int')
    expect((await ended).exitCode).toBe(130)
    const { stdout, stderr, exitCode } = await waited
    expect({ stdout, exitCode }).toEqual({ stdout: 'mine\n', exitCode: 0 })
    expect(stderr).toContain(`forkpoint kill web ${id}`)
  })

  test('Ctrl-C prints the last output, and leaves the shell and its state', async () => {
    const line = "trap 'echo last words' INT; echo begun; sleep 1000"
    const child = cli.start(['exec', 'web', '--', `(${line})`])
    const ended = finished(child)
    await untilShown(child.stdout, /begun/)
    child.kill('SIGINT')
    const { exitCode, stdout, stderr } = await ended
    expect(exitCode).toBe(130)
    // On a busy machine it may take longer than anybody waits for it; then the rest is where it says.
    const [, id] = /forkpoint logs web (c-[\w-]+)/.exec(stderr) ?? []
    if (id === undefined) expect(stderr).toBe('')
    else await until(async () => !(await cli.must('ps', 'web', '-q')).includes(id))
    const all = id === undefined ? stdout : await cli.must('logs', 'web', id)
    expect(all).toBe('begun\nlast words\n')
    expect(await cli.must('exec', 'web', '--', 'greet')).toBe('kept in /srv\n')
  })

  test('Ctrl-C does not wait for a command that ignores it, says so, and has it killed', async () => {
    const child = cli.start(['exec', 'web', '--', "(trap '' INT; echo begun; sleep 1000)"])
    const ended = finished(child)
    await untilShown(child.stdout, /begun/)
    child.kill('SIGINT')
    const { exitCode, stderr } = await ended
    expect({ exitCode, stderr }).toEqual({
      exitCode: 130,
      stderr: expect.stringMatching(/c-\S+ was interrupted and has not ended yet/),
    })
    await until(async () => (await cli.must('ps', 'web', '-q')) === '')
    expect(await cli.must('exec', 'web', '--', 'greet')).toBe('kept in /srv\n')
  })

  test('a loop that reads a list keeps its stdin with -n', async () => {
    const loop = `printf 'a\\nb\\nc\\n' | while read -r x; do forkpoint exec -n web -- echo "$x"; done`
    const ran = await cli.run(['-c', loop], { command: ['bash'] })
    expect(ran).toMatchObject({ stdout: 'a\nb\nc\n', stderr: '' })
    expect(await cli.run(['exec', 'web', '--', 'cat'], { stdin: Buffer.from('x') })).toMatchObject({
      stdout: 'x',
    })
  })

  test('a command that ends the shell says that its state is gone', async () => {
    const ran = await cli.run(['exec', 'web', '--shell', 'other', '--', 'set -e; false'])
    expect(ran.exitCode).toBe(1)
    expect(ran.stderr).toMatch(/ended the shell: its directory, variables and functions are gone/)
    const plain = await cli.run(['exec', 'web', '--', 'exit 4'])
    expect(plain).toMatchObject({ exitCode: 4, stderr: expect.stringMatching(/ended the shell/) })
    expect(await cli.must('exec', 'web', '--', 'echo "${word-none}"')).toBe('none\n')
    await cli.must('exec', 'web', '--', 'cd /srv; word=kept; greet() { echo "$word in $PWD"; }')
  })

  test('short options of other tools work, or name the right verb', async () => {
    expect(await cli.must('exec', '-w', '/usr', 'web', '--', 'pwd')).toBe('/usr\n')
    expect(await cli.must('exec', '-u', 'nobody', '-w', '/', 'web', '--', 'id -un')).toBe(
      'nobody\n',
    )
    const terminal = await cli.run(['exec', '-it', 'web', '--', 'bash'])
    expect(terminal.exitCode).toBe(2)
    expect(terminal.stderr).toContain('forkpoint shell web')
    using directory = new TemporaryDirectory()
    mkdirSync(directory.file('app'))
    writeFileSync(directory.file('app/file'), 'content')
    await cli.must('cp', '-r', directory.file('app'), 'web:/srv/')
    expect(await cli.must('exec', 'web', '--', 'cat /srv/app/file')).toBe('content')
  })
})
