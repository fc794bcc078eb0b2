import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { type Environment, Forkpoint } from '../../../src/index.ts'
import { CliHome } from './cli-home.ts'
import { TmuxTerminal } from './tmux-terminal.ts'

const prompt = /root@\S*# $/
/** Longer than a terminal takes to answer a query. */
const answerMs = 1500

interface FullScreen {
  readonly name: string
  readonly start: string
  readonly shows: RegExp
  /** keys that the program obeys, and what shows that it did */
  readonly obeys: { readonly type: string; readonly shows: RegExp }
  readonly quit: readonly string[]
}

const programs: readonly FullScreen[] = [
  {
    name: 'vim',
    start: 'vim -u NONE -c "set ruler nocompatible" /etc/services',
    shows: /tcpmux[\s\S]*1,1/,
    obeys: { type: '5Gx', shows: /5,1/ },
    quit: [':q!', 'Enter'],
  },
  {
    name: 'less',
    start: 'less /etc/services',
    shows: /tcpmux[\s\S]*services$/,
    obeys: { type: 'G', shows: /\(END\)$/ },
    quit: ['q'],
  },
  {
    name: 'top',
    start: 'top -d 3600',
    shows: /load average[\s\S]*PID USER/,
    obeys: { type: 'c', shows: /bash/ },
    quit: ['q'],
  },
]

/** `forkpoint shell` for `reference`, in a terminal of the host. */
async function shell(cli: CliHome, reference: string): Promise<TmuxTerminal> {
  const terminal = await TmuxTerminal.start(cli.env)
  await terminal.line(`forkpoint shell ${reference}`)
  return terminal
}

/** Its screen after the time in which answers to queries would arrive. */
async function settled(terminal: TmuxTerminal): Promise<string> {
  await sleep(answerMs)
  return await terminal.screen()
}

async function leaves(terminal: TmuxTerminal, program: FullScreen): Promise<void> {
  await terminal.type(program.obeys.type)
  await terminal.shows(program.obeys.shows)
  await terminal.keys(...program.quit)
  await terminal.shows(prompt)
  // What a terminal answered by itself would be typed at the prompt now.
  expect(await settled(terminal)).toMatch(/# ?$/)
  await terminal.line('echo $((6*7))')
  await terminal.shows(/^42$/m)
}

describe.each(programs)('$name', (program) => {
  test('shows the same screen after a snapshot, in a fork and after a restore', async () => {
    await using cli = new CliHome()
    await using fp = await Forkpoint.open({ settings: { home: cli.home.path } })
    const env: Environment = await fp.create({ name: 'web' })
    await using terminal = await shell(cli, 'web')
    await terminal.shows(prompt)
    await terminal.line(program.start)
    await terminal.shows(program.shows)
    const before = await settled(terminal)
    const base = await env.snapshot()
    expect(await settled(terminal)).toBe(before)
    await base.fork(1, { name: 'fork' })
    await using forked = await shell(cli, 'fork')
    await forked.shows(program.shows)
    expect(await settled(forked)).toBe(before)
    await leaves(terminal, program)
    await env.restore(base)
    await terminal.shows(program.shows)
    expect(await settled(terminal)).toBe(before)
    await leaves(terminal, program)
    await leaves(forked, program)
  })
})

test('tmux inside shows the same screen, and takes every key, after a snapshot, in a fork and after a restore', async () => {
  await using cli = new CliHome()
  await using fp = await Forkpoint.open({ settings: { home: cli.home.path } })
  const env = await fp.create({ name: 'web' })
  await using terminal = await shell(cli, 'web')
  await terminal.shows(prompt)
  await terminal.line('tmux -f /dev/null new "stty -echo raw; exec cat -v"')
  await terminal.shows(/\[0\]/)
  await terminal.type('before')
  // tmux notices late which program a window shows.
  await terminal.shows(/^before[\s\S]*\[0\] 0:cat\*/)
  const withoutClock = async (shown: TmuxTerminal) =>
    (await settled(shown)).replace(/"[^"]*" \S+ \S+$/, '')
  const before = await withoutClock(terminal)
  const base = await env.snapshot()
  expect(await withoutClock(terminal)).toBe(before)
  await terminal.type('+after')
  expect(await terminal.shows(/^before\+after$/m)).not.toContain('^[')
  await base.fork(1, { name: 'fork' })
  await using forked = await shell(cli, 'fork')
  await forked.shows(/^before$/m)
  expect(await withoutClock(forked)).toBe(before)
  await forked.type('+forked')
  await forked.shows(/^before\+forked$/m)
  await env.restore(base)
  await terminal.shows(/^before$/m)
  expect(await withoutClock(terminal)).toBe(before)
  await terminal.type('+restored')
  await terminal.shows(/^before\+restored$/m)
})

test('a program that reads what a terminal answers gets no byte by itself', async () => {
  await using cli = new CliHome()
  await using fp = await Forkpoint.open({ settings: { home: cli.home.path } })
  const env = await fp.create({ name: 'web' })
  await using terminal = await shell(cli, 'web')
  await terminal.shows(prompt)
  const asks = '\\e[6n\\e[c\\e[>c\\e]11;?\\a\\e[?1004h\\e[?2004h'
  await terminal.line(`clear; stty raw -echo; printf '${asks}'; dd bs=1 2>/dev/null | cat -v`)
  await terminal.type('asked')
  const before = (await settled(terminal)) && (await terminal.shows(/asked/))
  const base = await env.snapshot()
  expect(await settled(terminal)).toBe(before)
  await base.fork(1, { name: 'fork' })
  await using forked = await shell(cli, 'fork')
  await forked.shows(/asked/)
  expect(await settled(forked)).toBe(before)
  await env.restore(base)
  expect(await settled(terminal)).toBe(before)
  await terminal.type('+typed')
  expect(await terminal.shows(/typed/)).toBe(`${before}+typed`)
})
