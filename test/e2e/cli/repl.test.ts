import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { patiently } from '../../support/patiently.ts'
import { CliHome, finished } from './cli-home.ts'
import { TmuxTerminal } from './tmux-terminal.ts'

let cli: CliHome

beforeAll(() => {
  cli = new CliHome()
})
afterAll(() => cli[Symbol.asyncDispose]())

const repl = (lines: readonly string[], ...options: string[]) =>
  cli.run(['repl', ...options], { stdin: Buffer.from(`${lines.join('\n')}\n`) })

describe('a session that is piped in', () => {
  test('takes snapshots, restores, forks, and removes everything at the end', async () => {
    const { exitCode, stdout, stderr } = await repl([
      'cmd cd /root; echo one > file; export MODE=debug',
      'snapshot first',
      'cmd echo two > file; MODE=broken',
      'restore first',
      'cmd cat file; echo $MODE $PWD',
      'fork try first',
      'checkout try',
      'cmd echo three > file; cat file',
      'checkout main',
      'cmd cat file',
      'branches',
      'step',
      'tree',
      'storage',
      'history',
      'stats',
      'discard try',
      'exit',
    ])
    expect(stderr).toBe('')
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^took snapshot s\w{11} \(physical.*\)$/m)
    expect(stdout).toContain('restored main to first\none\ndebug /root\n')
    expect(stdout).toContain('forked first into try\non branch try\nthree\non branch main\none\n')
    expect(stdout).toMatch(/^\* {2}main +s\w+ +e\w+ +running$/m)
    expect(stdout).toMatch(/^stepped to s\w{11}$/m)
    expect(stdout).toMatch(/^● first \(s\w+\).*▸ try$/m)
    expect(stdout).toMatch(/^● s\w+.*▸ main \*$/m)
    expect(stdout).toMatch(/^total: /m)
    expect(stdout).toMatch(/restore \(physical\) +main +s\w+/)
    expect(stdout).toMatch(/exec +5 +/)
    expect(await cli.must('ls', '--json')).toBe('[]\n')
    expect(await cli.must('snapshots', '--json')).toBe('[]\n')
  })

  test('replays virtual snapshots', async () => {
    const { stdout, exitCode } = await repl(
      [
        'cmd echo base > /root/file',
        'snapshot base',
        'cmd echo more >> /root/file',
        'snapshot more',
        'restore base',
        'cmd cat /root/file',
        'restore more',
        'cmd cat /root/file',
        'tree',
      ],
      '--decider',
      'never',
    )
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/took snapshot v\w+ \(virtual\)/)
    expect(stdout).toContain('restored main to base\nbase\nrestored main to more\nbase\nmore\n')
    expect(stdout).toMatch(/^○ more \(v\w+\) {2}virtual, 1 command {2}▸ main \*$/m)
  })

  test('runs other lines inside once `cmd` is off', async () => {
    const { stdout, stderr, exitCode } = await repl([
      'echo no',
      'set cmd off',
      'echo yes; echo warning >&2; (exit 3)',
      'set cmd on',
      'echo no',
    ])
    expect(exitCode).toBe(1)
    expect(stdout).toBe(
      'other lines now run inside\nyes\nwarning\nended with 3\n`cmd` is needed again\n',
    )
    expect(stderr.match(/there is no command "echo"/g)).toHaveLength(2)
    expect(stderr).toContain('remedy: `help` lists the commands')
  })

  test('goes on after a line that fails, and says so in its exit code', async () => {
    const { stdout, stderr, exitCode } = await repl([
      'restore nothing',
      'fork try',
      'checkout try',
      'cmd echo still here',
    ])
    expect(exitCode).toBe(1)
    expect(stdout).toBe('still here\n')
    expect(stderr).toContain('no snapshot "nothing" in this session')
    expect(stderr).toContain('write it as: fork BRANCH SNAPSHOT')
    expect(stderr).toContain('no branch "try"')
  })

  test('with --keep and --env, a later one continues', async () => {
    const first = await repl(['cmd echo kept > /root/file', 'snapshot kept'], '--keep')
    expect(first.exitCode).toBe(0)
    const [environment] = JSON.parse(await cli.must('ls', '--json'))
    const second = await repl(
      ['cmd rm /root/file', 'restore kept', 'cmd cat /root/file'],
      '--env',
      environment.id,
    )
    expect(second.stdout).toBe('restored main to kept\nkept\n')
    expect(JSON.parse(await cli.must('ls', '--json'))).toHaveLength(1)
    await cli.must('rm', environment.id)
    await cli.must('prune', '--force')
  })

  test('with --json, is one document', async () => {
    const { stdout } = await repl(['cmd echo hi', 'restore x', 'snapshot'], '--json')
    const { lines, stats, session } = JSON.parse(stdout)
    expect(session).toMatch(/^e\w{11}$/)
    expect(lines).toEqual([
      { line: 'cmd echo hi', output: 'hi' },
      { line: 'restore x', error: expect.objectContaining({ code: 'not_found' }) },
      { line: 'snapshot', output: expect.stringMatching(/^took snapshot/) },
    ])
    expect(stats.all.time['snapshot (physical)'].count).toBe(1)
    expect(stats.all.time['snapshot (physical)'].p95).toBeGreaterThan(0)
  })

  test('has colours if they are wanted', async () => {
    const lines = ['snapshot first', 'tree', 'help']
    const { stdout } = await repl(lines, '--color', 'always')
    expect(stdout).toContain('\u001b[1mfirst (s')
    expect(stdout).toContain('\u001b[32m▸ main *\u001b[39m')
    expect((await repl(lines)).stdout).not.toContain('\u001b')
  })

  test('runs hooks from a file', async () => {
    const file = join(cli.home.path, 'hooks.json')
    const seen = join(cli.home.path, 'seen')
    const commit = `echo "$FORKPOINT_OPERATION $FORKPOINT_BRANCH" >> ${seen}`
    writeFileSync(file, JSON.stringify([{ name: 'note', snapshot: { commit } }]))
    const { stdout, exitCode } = await repl(['snapshot', `# ${seen}`], '--hooks', file)
    expect(stdout).toMatch(/took snapshot s/)
    expect(exitCode).toBe(0)
    const { stdout: noted } = await cli.run([seen], { command: ['cat'] })
    expect(noted).toBe('snapshot main\n')
  })

  test.each([
    [['--decider', 'sometimes'], /not a decider: "sometimes"/],
    [['--backend', 'nothing'], /there is no backend "nothing"/],
    [['--env', 'web', '--from', 'host'], /an existing environment has its backend/],
    [['--hooks', '/nowhere.json'], /cannot read hooks from "\/nowhere.json"/],
  ])('%j is refused', async (options, message) => {
    const { stderr, exitCode } = await repl(['exit'], ...options)
    expect(exitCode).toBe(2)
    expect(stderr).toMatch(message)
    expect(await cli.must('ls', '--json')).toBe('[]\n')
  })
})

test('a session that is killed while it replays has changed nothing', async () => {
  await cli.must('create', '--name', 'web')
  const prepared = await repl(
    [
      'snapshot base',
      'cmd echo one > /root/file; sleep 6',
      'snapshot slow',
      'cmd echo two > /root/file; kept=yes',
    ],
    ...['--env', 'web', '--decider', 'never', '--keep'],
  )
  expect(prepared.stdout).toMatch(/took snapshot v\w+ \(virtual\)/)
  const child = cli.start(['repl', '--env', 'web'], { stdin: 'idle' })
  child.stdin?.write('restore slow\n')
  const environments = async () => JSON.parse(await cli.must('ls', '--json')).length
  await expect.poll(environments).toBe(2)
  child.kill('SIGKILL')
  expect((await finished(child)).signal).toBe('SIGKILL')
  expect(await cli.must('exec', 'web', '--', 'cat /root/file; echo $kept')).toBe('two\nyes\n')

  const again = await repl(['restore slow', 'cmd cat /root/file'], '--env', 'web')
  expect(again.stdout).toBe('restored main to slow\none\n')
  expect(await environments()).toBe(1)
  await cli.must('rm', 'web')
  await cli.must('prune', '--force')
})

test('in a terminal there are a prompt, completion, history and Ctrl-C', async () => {
  await using terminal = await TmuxTerminal.start(cli.env)
  await terminal.line('forkpoint repl')
  await terminal.shows(/forkpoint \(main\)> $/)
  await terminal.type('snap')
  await terminal.keys('Tab')
  // What arrives together with a Tab counts as pasted, and is not completed.
  await terminal.shows(/> snapshot$/)
  await terminal.line(' ready')
  await terminal.shows(/took snapshot s\w+ \(physical[\s\S]*\)> $/)
  await terminal.type('restore re')
  await terminal.keys('Tab')
  await terminal.shows(/> restore ready$/)
  await terminal.keys('Enter')
  await terminal.shows(/restored main to ready[\s\S]*\)> $/)
  await terminal.line('cmd sleep 1000')
  await terminal.shows(/cmd sleep 1000\n*$/)
  // Before the command has begun, there is nothing to interrupt.
  const interrupt = async () => {
    await terminal.keys('C-c')
    return `${await terminal.screen()} `
  }
  const interrupted = /(interrupted|ended with)[\s\S]*\)> $/
  await expect.poll(interrupt, { ...patiently, interval: 1000 }).toMatch(interrupted)
  await terminal.keys('Up', 'Up', 'Enter')
  await terminal.shows(/restored main to ready[\s\S]*restored main to ready[\s\S]*\)> $/)
  await terminal.keys('C-d')
  await terminal.shows(/host> $/)
  expect(await cli.must('ls', '--json')).toBe('[]\n')
})
