import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CliHome } from './cli-home.ts'
import { TmuxTerminal } from './tmux-terminal.ts'

let cli: CliHome

beforeAll(async () => {
  cli = new CliHome()
  await cli.must('create', '--name', 'busy')
  await cli.must('create', '--name', 'asleep')
  await cli.must('pause', 'asleep', '--release')
})
afterAll(() => cli[Symbol.asyncDispose]())

describe('top', () => {
  test('is one document for a program, and one look for a pipe', async () => {
    const rows = JSON.parse(await cli.must('top', '--json'))
    expect(rows).toContainEqual(
      expect.objectContaining({ name: 'busy', status: 'running', operations: [] }),
    )
    expect(rows).toContainEqual(
      expect.objectContaining({ name: 'asleep', status: 'released', memoryBytes: null }),
    )
    const text = await cli.must('top')
    expect(text).toMatch(/^2 environments, 1 running · .* · 0 operations under way\n/)
    expect(text).toMatch(/\nbusy .* running .* of /)
  })

  test('follows what happens on a terminal, and leaves the terminal as it was', async () => {
    await using terminal = await TmuxTerminal.start(cli.env)
    await terminal.line('echo before')
    await terminal.shows(/\nbefore\nhost> $/)
    await terminal.line('forkpoint top --interval 200ms')
    await terminal.shows(/^2 environments, 1 running[\s\S]*\nNAME [\s\S]*\nbusy /)
    expect(await terminal.format('#{alternate_on} #{cursor_flag}')).toBe('1 0')
    await cli.must('create', '--name', 'third')
    await terminal.shows(/^3 environments, 2 running[\s\S]*\nthird /)
    // What is below or beside the screen is cut.
    await terminal.resize(60, 4)
    await terminal.shows(/^3 environments, 2 running/)
    await terminal.resize(100, 30)
    await terminal.shows(/\nthird /)
    await cli.must('rm', 'third')
    await terminal.shows(/^2 environments[\s\S]*\nasleep /)
    await terminal.type('q')
    await terminal.shows(/\nbefore\nhost> [\s\S]*top --interval 200ms\nhost> $/)
    expect(await terminal.format('#{alternate_on} #{cursor_flag} #{wrap_flag}')).toBe('0 1 1')
    await terminal.line('stty -a | grep -o " icanon" | tr -d " "')
    await terminal.shows(/\nicanon\nhost> $/)
  })

  test('ends with Ctrl-C, and by a signal', async () => {
    await using terminal = await TmuxTerminal.start(cli.env)
    for (const end of [
      () => terminal.keys('C-c'),
      async () => void process.kill(await terminal.foregroundPid(), 'SIGTERM'),
    ]) {
      await terminal.line('forkpoint top')
      await terminal.shows(/^2 environments/)
      await end()
      await terminal.shows(/host> $/)
      expect(await terminal.format('#{alternate_on} #{cursor_flag}')).toBe('0 1')
    }
  })
})
