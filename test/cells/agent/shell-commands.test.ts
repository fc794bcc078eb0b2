import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type ExecOptions, type ExecSpec, execCommand } from '../../../src/agent/commands/exec.ts'
import { closeShell, listShells } from '../../../src/agent/environment.ts'
import type { AgentConnection } from '../../../src/agent/wire/connection.ts'
import { unless } from '../../support/evidence.ts'
import { TestAgent, whyNoAgent } from './run-agent.ts'

type ShellSpec = Partial<Extract<ExecSpec, { mode: 'shell' }>>

describe('a command in a persistent shell', unless(whyNoAgent), () => {
  let agent: TestAgent
  let connection: AgentConnection

  beforeAll(async () => {
    agent = await TestAgent.start()
    connection = await agent.connect()
  })
  afterAll(() => agent?.[Symbol.asyncDispose]())

  async function run(command: string, spec: ShellSpec = {}, options: ExecOptions = {}) {
    const result = await execCommand(connection, { mode: 'shell', command, ...spec }, options)
    return { ...result, stdout: String(result.stdout), stderr: String(result.stderr) }
  }

  describe('leaves its state for the next', () => {
    test('the directory', async () => {
      await run('cd /usr/share')
      expect((await run('pwd')).stdout).toBe('/usr/share\n')
    })

    test('exported and plain variables', async () => {
      await run('export SEEN=outside; plain=inside')
      expect((await run('echo $plain; env | grep ^SEEN=')).stdout).toBe('inside\nSEEN=outside\n')
    })

    test('functions, aliases and options', async () => {
      await run('greet() { echo "hello $1"; }; alias hi="greet world"; shopt -s extglob')
      expect((await run('greet you; hi')).stdout).toBe('hello you\nhello world\n')
      expect((await run('shopt extglob')).stdout).toMatch(/on$/m)
    })

    test('background jobs', async () => {
      await run('sleep 1000 &')
      expect((await run('jobs')).stdout).toMatch(/\[1\].*Running.*sleep 1000/)
      expect((await run('kill %1; wait %1; echo "ended with $?"')).stdout).toMatch(/ended with 143/)
    })

    test('the exit code of the one before, as $?', async () => {
      await run('(exit 42)')
      expect((await run('echo $?')).stdout).toBe('42\n')
    })
  })

  describe('returns', () => {
    test('stdout and stderr separately, and its real exit code', async () => {
      const result = await run('echo to-out; echo to-err >&2; (exit 7)')
      expect(result).toMatchObject({
        stdout: 'to-out\n',
        stderr: 'to-err\n',
        exitCode: 7,
        signal: null,
        timedOut: false,
        shellGone: false,
      })
      expect(result.durationMs).toBeGreaterThan(0)
    })

    test('any bytes, unchanged', async () => {
      const bytes = Buffer.from(Array.from({ length: 256 }, (_, i) => i))
      const spec = { mode: 'shell', command: 'cat', stdin: bytes } as const
      const { stdout } = await execCommand(connection, spec)
      expect(stdout.equals(bytes)).toBe(true)
    })

    test('what it computed from its stdin', async () => {
      expect((await run('tr a-z A-Z', { stdin: 'quiet please' })).stdout).toBe('QUIET PLEASE')
    })

    test('an immediate end of input if none was given', async () => {
      expect((await run('cat; echo done')).stdout).toBe('done\n')
    })

    test('its arguments, exactly', async () => {
      const words = ['printf', '%s|', "it's", '$HOME', 'a  b', '*', '']
      const { stdout } = await execCommand(connection, { mode: 'shell', command: words })
      expect(String(stdout)).toBe("it's|$HOME|a  b|*||")
    })

    test('a multi-line script, whatever it quotes', async () => {
      const { stdout } = await run(
        'cat <<\'END\'\none "two"\n$three\nEND\nfor i in 1 2\ndo\n echo $i\ndone',
      )
      expect(stdout).toBe('one "two"\n$three\n1\n2\n')
    })

    test('the output of a command line of 2 MB', async () => {
      const { stdout } = await run(`echo ${'x'.repeat(2_000_000)} | wc -c`)
      expect(stdout.trim()).toBe('2000001')
    })
  })

  describe('does not break the next command', () => {
    beforeEach(async () => {
      await run('cd / && here=before')
    })

    const survivors: [string, string][] = [
      ['a syntax error', 'if then fi ((('],
      ['unbalanced quotes', 'echo "never closed'],
      ['an unfinished here-document', 'cat <<END\nno end'],
      ['an unset variable under set -u', 'set -u; echo $not_there'],
      ['stty', 'stty raw -echo; stty -icanon'],
      ['closed streams', 'exec 2>&1 1>/dev/null; exec 0<&-; true'],
      ['a command that does not exist', 'no-such-program --at-all'],
      ['an interrupt of itself', 'kill -INT $$; sleep 5'],
      ['a trap', "trap 'echo trapped' EXIT DEBUG ERR; false; trap - DEBUG ERR EXIT"],
    ]
    test.each(survivors)('when it is %s, and the shell keeps its state', async (_, command) => {
      await run(command, { timeoutMs: 8000 })
      await run('set +u; trap - DEBUG ERR EXIT')
      const next = await run('echo "$here $PWD"; echo err >&2', { timeoutMs: 8000 })
      expect(next).toMatchObject({ stdout: 'before /\n', stderr: 'err\n', exitCode: 0 })
    })

    const endings: [string, string, object][] = [
      ['exit', 'exit 3', { exitCode: 3, shellGone: true }],
      ['exec', 'exec sh -c "exit 9"', { exitCode: 9, shellGone: true }],
      ['set -e and a failure', 'set -e; false; echo not reached', { exitCode: 1, shellGone: true }],
      ['kill -9 $$', 'kill -9 $$', { signal: 'SIGKILL', shellGone: true }],
    ]
    test.each(endings)(
      'when it ends the shell by %s, and reports that',
      async (_, command, expected) => {
        expect(await run(command, { timeoutMs: 8000 })).toMatchObject(expected)
        const next = await run('echo "fresh$here"', { timeoutMs: 8000 })
        expect(next).toMatchObject({ stdout: 'fresh\n', exitCode: 0, shellGone: false })
      },
    )

    test('when its background job keeps stdout open', async () => {
      const first = await run('(sleep 0.3; echo late; sleep 1000) & echo first', {
        timeoutMs: 8000,
      })
      expect(first).toMatchObject({ stdout: 'first\n', timedOut: false })
      const next = await run('sleep 0.5; echo next')
      expect(next.stdout).toBe('next\n')
      await run('kill %1')
    })
  })

  describe('that takes too long', () => {
    test('is ended; the shell and its state stay', async () => {
      await run('kept=yes')
      const result = await run('echo begun; sleep 1000; echo not reached', { timeoutMs: 1000 })
      expect(result).toMatchObject({ timedOut: true, shellGone: false, stdout: 'begun\n' })
      expect(result.durationMs).toBeLessThan(20_000)
      expect((await run('echo $kept')).stdout).toBe('yes\n')
    })

    test('is killed after a grace period if it ignores the signal', async () => {
      const stubborn = `bash -c 'trap "" TERM INT HUP; while :; do sleep 1; done'`
      const result = await run(stubborn, { timeoutMs: 200, graceMs: 300 })
      expect(result).toMatchObject({ timedOut: true, shellGone: false })
      expect((await run('echo alive')).stdout).toBe('alive\n')
    })

    test('is ended even if the shell itself is looping', async () => {
      const result = await run('while :; do :; done', { timeoutMs: 300 })
      expect(result.timedOut).toBe(true)
      expect((await run('echo alive')).stdout).toBe('alive\n')
    })

    test('is ended when its caller aborts', async () => {
      await run('kept=still')
      const options = { signal: AbortSignal.timeout(300) }
      await expect(run('sleep 1000; echo not reached', {}, options)).rejects.toThrow(/timeout/)
      expect((await run('echo $kept', { timeoutMs: 5000 })).stdout).toBe('still\n')
    })
  })

  describe('of one of several shells', () => {
    test('sees only its own state', async () => {
      await run('who=main; cd /')
      await run('who=other; cd /usr', { shell: 'other' })
      expect((await run('echo $who $PWD')).stdout).toBe('main /\n')
      expect((await run('echo $who $PWD', { shell: 'other' })).stdout).toBe('other /usr\n')
    })

    test('runs during a long one in another shell, and after one in its own', async () => {
      const done = agent.path('quick-is-done')
      const slow = run(`until [ -e ${done} ]; do sleep 0.02; done; echo slow; said=yes`)
      const queued = run('echo queued, $said')
      expect((await run(`echo quick; touch ${done}`, { shell: 'other' })).stdout).toBe('quick\n')
      expect((await slow).stdout).toBe('slow\n')
      expect((await queued).stdout).toBe('queued, yes\n')
    })

    test('is listed with its directory, and ends when it is closed', async () => {
      await run('cd /usr/bin', { shell: 'brief' })
      const shells = await listShells(connection)
      expect(shells.find((shell) => shell.shell === 'brief')).toMatchObject({
        busy: false,
        cwd: '/usr/bin',
      })
      await closeShell(connection, 'brief')
      const names = async () => (await listShells(connection)).map((shell) => shell.shell)
      await expect.poll(names).not.toContain('brief')
    })
  })

  test('may have its own directory and variables, for itself only', async () => {
    await run('cd /usr; unset ONCE')
    const result = await run('echo $PWD $ONCE', { cwd: '/tmp', env: { ONCE: "it's once" } })
    expect(result.stdout).toBe("/tmp it's once\n")
    expect((await run('echo $PWD "$ONCE"')).stdout).toBe('/usr \n')
  })

  test('has its own controlling terminal', async () => {
    expect((await run('ps -o tty= $$; echo seen > /dev/tty')).stdout).toMatch(/^pts\/\d+\s*$/)
  })
})
