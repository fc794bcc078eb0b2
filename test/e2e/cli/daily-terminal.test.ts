import { mkdirSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TemporaryDirectory } from '../../support/temporary-directory.ts'
import { CliHome } from './cli-home.ts'
import { TmuxTerminal } from './tmux-terminal.ts'

test('run makes an environment for one command', async () => {
  await using cli = new CliHome()
  const ran = await cli.run(['run', '--rm', '-e', 'WORD=x', '--', 'echo $WORD; exit 3'])
  expect(ran).toMatchObject({ stdout: 'x\n', exitCode: 3 })
  // Nobody needs its shell any more.
  expect(ran.stderr).not.toContain('ended the shell')
  expect((await cli.json('ls')).document).toEqual([])
  const kept = await cli.run(['run', '--name', 'stays', '--', 'true'])
  expect(kept).toMatchObject({ exitCode: 0, stderr: expect.stringMatching(/kept stays/) })
  expect((await cli.json('ls')).document).toMatchObject([{ name: 'stays' }])
})

test('PATH is that of a login shell if somebody wants it', async () => {
  await using cli = new CliHome()
  using home = new TemporaryDirectory()
  // As rustup and pyenv write them: the second does nothing in a shell that is not interactive.
  writeFileSync(home.file('.profile'), '. "$HOME/.bashrc"\nPATH="$HOME/.cargo/bin:$PATH"\n')
  writeFileSync(
    home.file('.bashrc'),
    'case $- in *i*) ;; *) return;; esac\nPATH="$HOME/.pyenv/shims:$PATH"\n',
  )
  for (const bin of ['.cargo/bin', '.pyenv/shims']) {
    mkdirSync(home.file(bin), { recursive: true })
    writeFileSync(home.file(`${bin}/tool`), `#!/bin/sh\necho ${bin}\n`, { mode: 0o755 })
  }
  const place = home.file('.').replace(/\/\.?$/, '')
  const from = ['--from', `dir:${place}`, '-e', `HOME=${place}`]
  await cli.must('create', '--name', 'plain', ...from)
  expect((await cli.run(['exec', 'plain', '--', 'tool'])).exitCode).toBe(127)
  expect(await cli.must('exec', 'plain', '--login', '--', 'tool')).toBe('.cargo/bin\n')
  await cli.must('create', '--name', 'login', '--login', ...from)
  expect(await cli.must('exec', 'login', '--process', '--', 'tool')).toBe('.cargo/bin\n')
  expect(await cli.must('exec', 'login', '--', 'echo $PATH')).toContain('/.pyenv/shims:')
  await cli.must('fork', 'login', '--name', 'fork')
  expect(await cli.must('exec', 'fork', '--process', '--', 'tool')).toBe('.cargo/bin\n')
})

describe('in a real terminal', () => {
  let cli: CliHome
  let terminal: TmuxTerminal

  beforeAll(async () => {
    cli = new CliHome()
    await cli.must('create', '--name', 'web')
    terminal = await TmuxTerminal.start(cli.env)
  })
  afterAll(async () => {
    await terminal?.[Symbol.asyncDispose]()
    await cli?.[Symbol.asyncDispose]()
  })

  test('Ctrl-C ends a command and gives the prompt back, below its last output', async () => {
    await terminal.line(
      'fp exec web -- \'(trap "echo last words" INT; echo begun; sleep 1000)\'; echo code $?',
    )
    await terminal.shows(/^begun$/m)
    await terminal.keys('C-c')
    const screen = await terminal.shows(/^code 130\nhost> $/m)
    // On a busy machine it may take longer than anybody waits for it, which is said.
    expect(screen).toMatch(/begun\n[\s\S]*(last words|has not ended yet)[\s\S]*code 130/)
  })

  test('Tab offers what a verb takes: environments first, and snapshots after one of them', async () => {
    await cli.must('snapshot', 'web', '--name', 'golden')
    await terminal.line('source <(fp completion bash); clear')
    await terminal.keys('f', 'p', 'Space', 'r', 'e', 's', 't', 'Tab')
    await terminal.shows(/fp restore $/m)
    await terminal.keys('w', 'Tab')
    await terminal.shows(/fp restore web $/m)
    await terminal.keys('g', 'o', 'Tab')
    await terminal.shows(/fp restore web golden $/m)
    await terminal.keys('C-u')
  })

  test('Ctrl-C during a snapshot says what it does, and what it did', async () => {
    const program =
      "x = bytearray(b'x' * (200 << 20)); print('ready'); import time; time.sleep(1000)"
    const big = (
      await cli.must('exec', 'web', '-d', '--process', '--', 'python3', '-uc', program)
    ).trim()
    while (!(await cli.must('logs', 'web', big)).includes('ready')) await sleep(100)
    await terminal.line('clear; fp snapshot web --name big; echo code $?')
    while (!(await cli.must('top', '--json')).includes('"snapshot"')) {
      if (/code \d/.test(await terminal.screen())) break
    }
    await terminal.keys('C-c')
    // The terminal wraps long lines.
    const screen = (await terminal.shows(/code \d+/)).replaceAll('\n', '')
    const names = (await cli.json('snapshots')).document.map(({ name }: { name: string }) => name)
    if (names.includes('big')) expect(screen).toMatch(/took snapshot big[\s\S]*code 0/)
    else
      expect(screen).toMatch(
        /cancelling the snapshot of web[\s\S]*cancelled: web continues[\s\S]*code 130/,
      )
    await cli.must('kill', 'web', big, '-s', 'KILL')
    expect(await cli.must('exec', 'web', '--', 'echo alive')).toBe('alive\n')
  })
})
