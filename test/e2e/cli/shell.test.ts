import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { patiently } from '../../support/patiently.ts'
import { CliHome } from './cli-home.ts'
import { TmuxTerminal } from './tmux-terminal.ts'

const shellCommand = 'forkpoint shell web'
const insidePrompt = /root@web:\S*# $/
const hostPrompt = /host> $/
const detached = /detached; come back with `forkpoint shell web.*`\nhost> $/

let cli: CliHome

beforeAll(async () => {
  cli = new CliHome()
  await cli.must('create', '--name', 'web')
})
afterAll(() => cli[Symbol.asyncDispose]())

/** A terminal of the host in which `forkpoint shell` has just shown a prompt. */
async function openShell(name: string): Promise<TmuxTerminal> {
  const terminal = await TmuxTerminal.start(cli.env)
  try {
    await terminal.line(`${shellCommand} --name ${name}`)
    await terminal.shows(insidePrompt)
  } catch (error) {
    await terminal[Symbol.asyncDispose]()
    throw error
  }
  return terminal
}

async function detach(terminal: TmuxTerminal): Promise<void> {
  await terminal.keys('C-]')
  await terminal.type('d')
  await terminal.shows(detached)
}

describe('programs in a shell work as in any terminal:', () => {
  test('bash, with its prompt, line editing and job control', async () => {
    await using terminal = await openShell('bash')
    await terminal.type('echo $((6 * 8))')
    await terminal.keys('BSpace', 'BSpace', 'BSpace')
    await terminal.line('7))')
    await terminal.shows(/\n42\n.*# $/)
    // Ctrl-Z and Ctrl-C also discard what was typed ahead, so the program must be running.
    await terminal.line('sh -c "echo one; exec sleep 100"')
    await terminal.shows(/\none$/)
    await terminal.keys('C-z')
    await terminal.shows(/Stopped .*sleep 100.*\n[\s\S]*# $/)
    await terminal.line('kill %1; tty')
    await terminal.shows(/\/dev\/pts\/\d+\n[\s\S]*# $/)
    await terminal.line('sh -c "echo two; exec sleep 100"')
    await terminal.shows(/\ntwo$/)
    await terminal.keys('C-c')
    await terminal.shows(/\^C\n[\s\S]*# $/)
    await terminal.line('echo rc=$?')
    await terminal.shows(/rc=130/)
  })

  test('vi, which edits and saves a file', async () => {
    await using terminal = await openShell('vi')
    await terminal.line('vi /root/note.txt')
    await terminal.shows(/~\n~[\s\S]*note\.txt/)
    await terminal.type('ihello from vi')
    await terminal.shows(/^hello from vi/)
    await terminal.keys('Escape')
    await terminal.line(':wq')
    await terminal.shows(insidePrompt)
    expect(await cli.must('exec', 'web', '--', 'cat /root/note.txt')).toBe('hello from vi\n')
  })

  test('top, which shows the processes inside', async () => {
    await using terminal = await openShell('top')
    await terminal.line('top')
    await terminal.shows(/^top - [\s\S]*PID USER[\s\S]* 1 root .* agent/)
    await terminal.type('q')
    await terminal.shows(insidePrompt)
  })

  test('tmux, with its status line, two panes and its own detaching', async () => {
    await using terminal = await openShell('multiplexer')
    await terminal.line('env -u TMUX tmux -L inside new -s work')
    await terminal.shows(/\[work\] 0:/)
    await terminal.keys('C-b')
    await terminal.type('"')
    await terminal.shows(/─{20}/)
    await terminal.line('echo lower-$((6 * 7))')
    await terminal.shows(/lower-42/)
    await terminal.keys('C-b')
    await terminal.type('d')
    await terminal.shows(/\[detached \(from session work\)\]/)
  })

  test('python3, which evaluates what is typed', async () => {
    await using terminal = await openShell('python')
    await terminal.line('python3')
    await terminal.shows(/>>> $/)
    await terminal.line('print(6 * 7)')
    await terminal.shows(/\n42\n>>> $/)
    await terminal.keys('C-d')
    await terminal.shows(insidePrompt)
  })
})

describe('leaving with Ctrl-] d', () => {
  test('keeps programs running, and coming back shows the same screen', async () => {
    await using terminal = await openShell('stay')
    await terminal.line('vi /root/draft.txt')
    await terminal.shows(/~\n~[\s\S]*draft\.txt/)
    await terminal.type('ifirst line')
    await terminal.keys('Enter')
    await terminal.type('second line')
    const before = await terminal.shows(/^first line\nsecond line\n~/)
    await detach(terminal)
    await terminal.line(`${shellCommand} --name stay`)
    await expect.poll(() => terminal.screen(), patiently).toBe(before)
    await terminal.keys('Escape')
    await terminal.line(':wq')
    await terminal.shows(insidePrompt)
    expect(await cli.must('exec', 'web', '--', 'cat /root/draft.txt')).toBe(
      'first line\nsecond line\n',
    )
  })

  test('leaves the terminal as it was', async () => {
    await using terminal = await openShell('back')
    await terminal.line('vi /root/x')
    await terminal.shows(/~\n~/)
    await detach(terminal)
    await terminal.line("stty -a | tr ' ' '\\n' | grep -xE -e '-?(isig|icanon|echo)' | xargs")
    await terminal.shows(/\nisig icanon echo\n/)
    expect(await terminal.format('#{alternate_on} #{cursor_flag} #{mouse_any_flag}')).toBe('0 1 0')
  })
})

describe('exec in a terminal', () => {
  test('does not read stdin unless asked to', async () => {
    await using terminal = await TmuxTerminal.start(cli.env)
    const exec = 'forkpoint exec web'
    await terminal.line(`${exec} -- cat; echo rc=$?`)
    await terminal.shows(/rc=0/)
    await terminal.line(`clear; ${exec} -i -- 'echo reads; wc -c'; echo rc=$?`)
    // Before, bash has the terminal, for which Ctrl-D is not the end of input.
    await terminal.shows(/^reads$/m)
    await terminal.line('four')
    await terminal.keys('C-d')
    await terminal.shows(/\n5\nrc=0/)
  })

  test('ends with the command on Ctrl-C', async () => {
    await using terminal = await TmuxTerminal.start(cli.env)
    await terminal.line("forkpoint exec web -- 'echo on; sleep 4321'; echo rc=$?")
    await terminal.shows(/\non$/)
    await terminal.keys('C-c')
    await terminal.shows(/rc=130/)
    expect((await cli.run(['exec', 'web', '--', 'pgrep -f "sleep 432[1]"'])).exitCode).toBe(1)
  })
})

describe('a shell', () => {
  test('follows the size of the terminal', async () => {
    await using terminal = await openShell('size')
    await terminal.line('stty size')
    await terminal.shows(/\n30 100\n/)
    await terminal.resize(120, 40)
    await terminal.line('sleep 0.5; stty size')
    await terminal.shows(/\n40 120\n/)
  })

  test('accepts a large paste completely', async () => {
    await using terminal = await openShell('paste')
    const lines = Array.from({ length: 3000 }, (_, number) => `line ${number} of a paste\n`)
    await terminal.line('stty -echo; echo quiet; cat > /root/paste; stty echo; wc -l < /root/paste')
    await terminal.shows(/\nquiet$/)
    await terminal.paste(lines.join(''))
    await terminal.keys('C-d')
    await terminal.shows(/\n3000\n/)
    expect(await cli.must('exec', 'web', '--', 'cat /root/paste')).toBe(lines.join(''))
  })

  test('ends with the exit code of its program', async () => {
    await using terminal = await openShell('exit')
    await terminal.line('exit 9')
    await terminal.shows(hostPrompt)
    await terminal.line('echo rc=$?')
    await terminal.shows(/rc=9/)
  })

  test('whose command line is killed resets the terminal and keeps running', async () => {
    await using terminal = await openShell('killed')
    await terminal.line('vi /root/y')
    await terminal.shows(/~\n~/)
    process.kill(await terminal.foregroundPid(), 'SIGTERM')
    await terminal.shows(hostPrompt)
    await terminal.line('echo rc=$?; stty -a | grep -o "[-]*icanon"')
    await terminal.shows(/rc=143\nicanon/)
    expect(await terminal.format('#{alternate_on}')).toBe('0')
    expect(await cli.must('exec', 'web', '--', 'pgrep -a vi')).toContain('vi /root/y')
  })

  test('ends with an error when its environment is removed, and resets the terminal', async () => {
    await cli.must('create', '--name', 'short')
    await using terminal = await TmuxTerminal.start(cli.env)
    await terminal.line('forkpoint shell short')
    await terminal.shows(/root@short:\S*# $/)
    await cli.must('rm', 'short')
    await terminal.shows(hostPrompt)
    await terminal.line('echo rc=$?; stty -a | grep -o "[-]*icanon"')
    const screen = await terminal.shows(/rc=\d+\nicanon/)
    expect(screen).toMatch(/forkpoint: .*(short|e\w{11})/)
    expect(screen).not.toContain('rc=0')
  })
})
