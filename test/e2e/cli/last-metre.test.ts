// What somebody types who has just met Forkpoint and knows other tools, as they type it.
import { createConnection } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TemporaryDirectory } from '../../support/temporary-directory.ts'
import { CliHome, finished, firstLine, untilShown } from './cli-home.ts'
import { TmuxTerminal } from './tmux-terminal.ts'

let cli: CliHome
let config: TemporaryDirectory
let terminal: TmuxTerminal

beforeAll(async () => {
  cli = new CliHome()
  config = new TemporaryDirectory()
  terminal = await TmuxTerminal.start({ ...cli.env, XDG_CONFIG_HOME: config.path })
  await terminal.resize(80, 40)
})
afterAll(async () => {
  await terminal[Symbol.asyncDispose]()
  await cli[Symbol.asyncDispose]()
  config[Symbol.dispose]()
})

/** Types a line at the prompt of an empty screen; resolves to what was shown until the next prompt. */
async function typed(line: string): Promise<string> {
  await terminal.line(`clear; ${line}; echo "[ended $?]"`)
  const screen = await terminal.shows(/\[ended \d+\]\nhost> $/)
  return screen.replace(/\n\[ended 0\]\nhost>\s*$/, '')
}

async function refused(...args: string[]): Promise<string> {
  const { exitCode, stderr } = await cli.run(args)
  expect(exitCode, stderr).not.toBe(0)
  return stderr
}

describe('the first minutes', () => {
  test('create takes the name as it is, and says that there is no network', async () => {
    const screen = await typed('fp create web')
    expect(screen).toMatch(
      /^created web \(e\w{11}\)\nit has no network; `forkpoint net web nat` gives/,
    )
    const chosen = await typed('fp create other --net none')
    expect(chosen).toMatch(/^created other \(e\w{11}\)$/)
    // A script is not told.
    expect((await cli.run(['create', 'third', '--', 'sleep', '1000'])).stderr).toBe('')
    const { document } = await cli.json('inspect', 'third')
    expect(document).toMatchObject({ name: 'third', command: ['sleep', '1000'] })
    await cli.must('rm', '-f', 'third', 'other')
  })

  test('net gives it a network and takes it away, and shows what it has', async () => {
    expect(await cli.must('net', 'web')).toMatch(/^web \(e\w{11}\) has no network\n$/)
    expect(await cli.must('net', 'web', 'nat')).toMatch(
      /reaches other hosts through this one \(nat\)/,
    )
    expect(await cli.must('exec', 'web', '--', 'ls /sys/class/net')).toContain('eth0')
    expect(await cli.must('net', 'web', 'none')).toContain('has no network')
    expect(await cli.must('exec', 'web', '--', 'ls /sys/class/net')).toBe('lo\n')
    const { document } = await cli.json('net', 'web', 'none')
    expect(document).toMatchObject({ name: 'web', mode: 'none', allow: [], cut: [] })
    expect(await refused('net', 'web', 'wifi')).toContain('none, nat')
  })

  test('a source that is a path or an image gets the form that works', async () => {
    expect(await refused('create', '--from', '.')).toContain('write dir:.')
    expect(await refused('create', '--from', '/srv/app')).toContain('write dir:/srv/app')
    expect(await refused('create', '--from', 'debian:12')).toContain('write image:debian:12')
  })

  test('arguments in the wrong order are called what they are', async () => {
    await cli.must('snapshot', 'web', '--name', 'ready')
    expect(await refused('rm', 'ready')).toMatch(/"ready" is a snapshot[\s\S]*rm-snapshot ready/)
    expect(await refused('restore', 'ready', 'web')).toContain('"ready" is a snapshot')
    expect(await refused('rm-snapshot', 'web')).toMatch(
      /"web" is an environment[\s\S]*snapshot web/,
    )
    expect(await refused('destroy', 'web')).toContain('forkpoint rm')
  })
})

describe('looking at it', () => {
  test('tree fits 80 columns, connects every line, and keeps sizes before ids', async () => {
    await cli.must('fork', 'ready', '-n', '11', '--name', 'try')
    await cli.must('fork', 'try-1', '--name', 'a-rather-long-name-for-the-fork-of-a-fork')
    const lines = (await typed('fp tree')).split('\n')
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80)
    expect(lines[0]).toMatch(/^┌─● ready +\d+s +[\d.]+ [KM]iB|not counted yet/)
    expect(lines.every((line) => /^(┌─|│ |└─|├─)/.test(line))).toBe(true)
    expect(lines.join('\n')).not.toMatch(/ e\w{11} /)
    expect(lines.find((line) => line.includes('  taken'))).toMatch(/┬─● s\w{11} /)
    expect(lines.at(-1)).toMatch(/^└─▸ web +\d+s +running$/)
    expect(await cli.must('tree')).toMatch(/^└─▸ web +e\w{11} /m)
  })

  test('ls counts forks as people do', async () => {
    const names = (await cli.json('ls')).document.map(({ name }: { name: string }) => name)
    const tries = Array.from({ length: 11 }, (_, at) => `try-${at + 1}`)
    expect(names.filter((name: string) => name.startsWith('try-'))).toEqual(tries)
    const screen = await typed('fp snapshots')
    expect(screen).toMatch(/^NAME +(ID +)?STATUS .*SIZE/)
    expect(screen.split('\n').every((line) => line.length <= 80)).toBe(true)
  })

  test('stats shows all, and -w watches until Ctrl-C', async () => {
    expect(await cli.must('stats')).toMatch(/^13 environments, 13 running[\s\S]*\nweb /)
    await terminal.line('clear; fp stats web -w')
    await terminal.shows(/cpu time .* of a CPU now/)
    await terminal.keys('C-c')
    await terminal.shows(/host> $/)
  })

  test('inspect shows an environment and a snapshot', async () => {
    expect(await cli.must('inspect', 'web')).toMatch(
      /^environment +web\nid +e\w{11}\nstatus +running/,
    )
    expect(await cli.must('inspect', 'ready')).toMatch(/^snapshot +ready\n[\s\S]*taken by +user/)
    const { document } = await cli.json('inspect', 'ready')
    expect(document).toMatchObject({ kind: 'snapshot', name: 'ready' })
  })

  test('diff shows what was changed, and not who the fork is', async () => {
    await cli.must('exec', 'try-2', '--', 'echo x > /root/changed')
    const changed = await cli.must('diff', 'ready', 'try-2')
    expect(changed).toContain('/root/changed')
    expect(changed).not.toMatch(/hostname|machine-id|hosts/)
    expect(await cli.must('diff', 'ready', 'try-2', '--all')).toContain('/etc/machine-id')
    expect(await cli.must('diff', 'ready', 'try-2', '/etc/hostname')).toContain('/etc/hostname')
    await cli.must('exec', 'try-2', '--', 'echo 192.0.2.1 db >> /etc/hosts')
    expect(await cli.must('diff', 'ready', 'try-2')).toContain('/etc/hosts')
  })

  test('log has the time and plain words, and is still there after rm', async () => {
    await cli.must('exec', 'try-3', '--detach', '--', 'sleep 1000')
    const shown = await cli.must('log', 'try-3')
    expect(shown).toMatch(/\nCOMMAND +STATUS [\s\S]*running .*sleep 1000/)
    expect(shown).toMatch(/^TIME .*\n\d\d:\d\d:\d\d +fork +done/)
    expect(shown).not.toMatch(/materialize|introduce/)
    const { id } = (await cli.json('inspect', 'try-3')).document
    await cli.must('rm', '-f', 'try-3')
    for (const reference of ['try-3', id]) {
      expect(await cli.must('log', reference)).toMatch(
        /fork +done[\s\S]*\n\d\d:\d\d:\d\d +remove +done/,
      )
    }
  })

  test('log has the commands that ended, through restores and after rm', async () => {
    await cli.run(['exec', 'try-5', '--', 'echo kept; (exit 3)'])
    const detached = (await cli.must('exec', 'try-5', '-d', '--', 'kill -KILL $BASHPID')).trim()
    await cli.run(['logs', 'try-5', detached, '-f'])
    await cli.must('exec', 'try-5', '--process', '--', 'sleep 1')
    await cli.must('restore', 'try-5', 'ready')
    await cli.must('exec', 'try-5', '--', 'echo later')
    await cli.must('fork', 'try-5', '--name', 'other')
    await cli.must('rm', 'try-5')
    const shown = await cli.must('log', 'try-5')
    expect(shown).toMatch(/\n\d\d:\d\d:\d\d +exec +exit 3 +[\d.]+ ms .* echo kept; \(exit 3\)\n/)
    expect(shown).toMatch(/exec -d +SIGKILL .*kill -KILL [\s\S]*exec +exit 0 +1 s .* sleep 1\n/)
    expect(shown).toMatch(/restore +done [\s\S]*echo later\n[\s\S]*remove +done/)
    // It has what ran in itself, and not what ran before.
    expect(await cli.must('log', 'other')).not.toContain('echo')
    const { commands } = (await cli.json('log', 'try-5')).document
    expect(commands).toMatchObject([
      { command: 'echo kept; (exit 3)', mode: 'shell', exit: { exitCode: 3, signal: null } },
      { id: detached, mode: 'detached', exit: { exitCode: null, signal: 'SIGKILL' } },
      { command: 'sleep 1', mode: 'process', exit: { exitCode: 0 } },
      { command: 'echo later' },
    ])
    expect((await cli.run(['log', 'never-was'])).exitCode).toBe(3)
  })
})

describe('terminals and ports', () => {
  test('terminals, type and screen work without a person', async () => {
    expect(await cli.must('terminals', 'web')).toBe(
      'no terminals; `forkpoint shell ENV` opens one\n',
    )
    await cli.must('type', 'web', 'main', 'echo', '$((6 * 7)) answers')
    await expect
      .poll(() => cli.must('screen', 'web', 'main'), { timeout: 60_000 })
      .toContain('\n42 answers\n')
    expect(await cli.must('terminals', 'web')).toMatch(/^NAME +SIZE\nmain +\d+×\d+\n$/)
  })

  test('port takes LOCAL:PORT, and ends with its environment', async () => {
    await cli.must(
      'exec',
      'try-4',
      '--detach',
      '--process',
      '--',
      'python3',
      '-m',
      'http.server',
      '80',
    )
    const child = cli.start(['port', 'try-4', '0:80'])
    const ended = finished(child)
    const address = await firstLine(child)
    expect(address).toMatch(/^127\.0\.0\.1:\d+$/)
    await cli.must('rm', '-f', 'try-4')
    const { exitCode, stderr } = await ended
    expect([exitCode, stderr]).toEqual([
      0,
      expect.stringContaining('was removed; its ports are closed'),
    ])
  })

  test('create -p forwards until Ctrl-C, and leaves the environment', async () => {
    const words = ['create', 'served', '-p', '0:8000', '--', 'python3', '-m', 'http.server', '8000']
    const child = cli.start(words)
    const ended = finished(child)
    let shown = ''
    child.stdout?.on('data', (chunk: Buffer) => {
      shown += chunk
    })
    await untilShown(child.stdout, /leads to port 8000/)
    const port = Number(/127\.0\.0\.1:(\d+) leads/.exec(shown)?.[1])
    const ask = async () => {
      const socket = createConnection(port, '127.0.0.1')
      socket.end('GET / HTTP/1.0\r\n\r\n')
      return await text(socket).catch(() => '')
    }
    await expect.poll(ask, { timeout: 60_000 }).toContain('200 OK')
    child.kill('SIGINT')
    await ended
    expect((await cli.json('inspect', 'served')).document.status).toBe('running')
  })
})

describe('the rest of the machine', () => {
  beforeAll(() => terminal.resize(120, 40))

  test('config set writes what config get reads', async () => {
    expect(await typed('fp config set net.mode nat')).toMatch(
      new RegExp(`^wrote net.mode to ${join(config.path, 'forkpoint/config.json')}; it is nat`),
    )
    expect(await typed('fp config get net.mode')).toBe('nat')
    expect(await typed('fp config set net.mode none; fp config get net.mode')).toMatch(/\nnone$/)
    expect(await typed('FORKPOINT_NET_MODE=nat fp config set net.mode none')).toContain(
      'counts instead',
    )
  })

  test('a mistyped --home is not made into an empty store', async () => {
    const typo = join(config.path, 'typo')
    const { exitCode, stderr } = await cli.run(['--home', typo, 'ls'])
    expect([exitCode, stderr]).toEqual([2, expect.stringMatching(/holds no store[\s\S]*--init/)])
    await terminal.line(`clear; fp --home ${typo} ls`)
    await terminal.shows(/holds no store of Forkpoint\. Continue\? \[y\/N\]/)
    await terminal.line('n')
    await terminal.shows(/remedy: correct --home[\s\S]*host> $/)
    expect(await cli.must('--home', typo, '--init', 'ls')).toContain('no environments')
    expect(await cli.must('--home', typo, 'ls')).toContain('no environments')
  })
})
