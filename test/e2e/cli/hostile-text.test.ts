import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { TemporaryDirectory } from '../../support/temporary-directory.ts'
import { CliHome, type Ran } from './cli-home.ts'

/** Clears the screen, does so in one byte, reads backwards, begins a line, and rings. */
const hostile = 'x\u001b[2J\u009b2J\u202egnp\u2066\u2028\u061c\u0007y'

const forbidden =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what we search for
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours of ours
const colors = /\u001b\[\d{1,3}m/g

let cli: CliHome
let files: TemporaryDirectory

beforeAll(async () => {
  cli = new CliHome()
  files = new TemporaryDirectory()
  const fp = await cli.home.open({ spares: 0 })
  mkdirSync(files.file('dir'))
  writeFileSync(files.file('dir/kept'), 'before\n')
  const env = await fp.create({
    name: 'web',
    from: `dir:${files.file('dir')}`,
    labels: { [hostile]: hostile },
    env: { HOSTILE: hostile },
  })
  await env.snapshot({ name: 'first', message: hostile, labels: { [hostile]: hostile } })
  // A file, a directory, a link, a socket and a program, all of that name.
  const made = await env.exec(
    [
      'python3',
      '-c',
      [
        'import os, socket, sys',
        'name = sys.argv[1]',
        `os.chdir(${JSON.stringify(files.file('dir'))})`,
        'open(name, "w").write("text\\n" + name + "\\n")',
        'open("kept", "w").write(name + "\\n")',
        'os.mkdir("d" + name); open("d" + name + "/" + name, "w").write("x")',
        'os.symlink(name, "l" + name)',
        'socket.socket(socket.AF_UNIX).bind("s" + name)',
        'os.mkfifo("p" + name)',
      ].join('\n'),
      hostile,
    ],
    { mode: 'process' },
  )
  expect(made).toMatchObject({ exitCode: 0, stderr: '' })
  // It counts on zeros, so that its name is printed with its memory.
  await env.spawn(
    [
      'python3',
      '-c',
      [
        'import ctypes, mmap, sys, time',
        'ctypes.CDLL(None).prctl(15, sys.argv[1].encode()[:15], 0, 0, 0)',
        'kept = bytearray(b"x" * 30_000_000)',
        'time.sleep(9999)',
      ].join('\n'),
      hostile,
    ],
    { mode: 'process' },
  )
  await env.exec('sleep 1')
  await env.snapshot({ name: 'second', message: hostile, metadata: { [hostile]: hostile } })
  await env.exec(`touch ${files.file('dir')}/later$'\\x1b'`)
})

afterAll(async () => {
  await cli[Symbol.asyncDispose]()
  files[Symbol.dispose]()
})

function expectHarmless(ran: Ran): void {
  for (const said of [ran.stdout, ran.stderr]) {
    expect(JSON.stringify(forbidden.exec(said.replaceAll(colors, '')))).toBe('null')
  }
}

const commands: readonly (readonly string[])[] = [
  ['ls'],
  ['tree'],
  ['snapshots'],
  ['usage'],
  ['log', 'web'],
  ['stats', 'web'],
  ['diff', 'first', 'second'],
  ['diff', 'first', 'second', '--stat'],
  ['prune', '--dry-run', '--keep-named'],
  ['snapshot', 'web'],
  ['doctor'],
  ['config'],
  ['config', hostile],
  ['ls', '--home', `/var/tmp/${hostile}`],
  ['ls', '--config', `/var/tmp/${hostile}`],
  ['create', '--name', hostile],
  ['create', '--from', `dir:/${hostile}`],
  ['create', '--memory', hostile],
  ['exec', hostile, '--', 'true'],
  ['exec', 'web', '--shell', hostile, '--', 'true'],
  ['exec', 'web', '--process', '--cwd', `/${hostile}`, '--', 'true'],
  ['exec', 'web', '--process', '--user', hostile, '--', 'true'],
  ['exec', 'web', '--attach', hostile],
  ['cp', `web:/${hostile}`, '/var/tmp/none/none'],
  ['restore', 'web', hostile],
  ['port', 'web', hostile],
  ['rename', 'web', hostile],
  ['rm', hostile],
  [hostile],
  ['ls', `--${hostile}`],
  ['help', hostile],
]

describe('untrusted text', () => {
  test.each(commands.map((words) => [words]))(
    '%j prints nothing that controls a terminal',
    async (words) => {
      for (const extra of [[], ['--json'], ['--color', 'always']]) {
        expectHarmless(await cli.run([...extra, ...words]))
      }
    },
  )

  test('a patch quotes hostile names, and shows the content as it is', async () => {
    const { stdout, stderr } = await cli.run(['diff', 'first', 'second', '--patch'])
    expect(stderr).toBe('')
    const heads = stdout
      .split('\n')
      .filter((line) => /^(diff|---|\+\+\+|rename|new|deleted)/.test(line))
    expect(heads.join('\n')).toContain('"b')
    expect(forbidden.test(heads.join(''))).toBe(false)
    expect(stdout).toContain(`+${hostile}`)
    const json = await cli.run(['--json', 'diff', 'first', 'second', '--patch'])
    expectHarmless(json)
    expect(JSON.parse(json.stdout).patch).toContain(hostile)
  })

  test('on a terminal the content of a patch is harmless, too', () => {
    const line = 'forkpoint diff first second --patch'
    const shown = execFileSync('script', ['-qec', line, '/dev/null'], { env: cli.env }).toString()
    expect(shown).toContain('+text')
    // The terminal itself ends lines with a carriage return, and progress clears its own line.
    const ours = shown.replaceAll('\r', '').replaceAll('\u001b[K', '').replaceAll(colors, '')
    expect(JSON.stringify(forbidden.exec(ours))).toBe('null')
  })

  test('JSON has the same text, escaped', async () => {
    const { document } = await cli.json('snapshots')
    expect(document[0]).toMatchObject({ message: hostile, labels: { [hostile]: hostile } })
  })

  test('what a command prints is passed on as it is', async () => {
    const { stdout } = await cli.run(['exec', 'web', '--', `printf '%s' "$HOSTILE"`])
    expect(stdout).toBe(hostile)
  })

  test('nor do the names that cp, apply and export print', async () => {
    const out = files.file('out')
    mkdirSync(out)
    expectHarmless(await cli.run(['cp', `web:${files.file('dir')}`, out]))
    expectHarmless(await cli.run(['--json', 'cp', `web:${files.file('dir')}`, files.file('again')]))
    mkdirSync(files.file('target'))
    writeFileSync(files.file('target/kept'), 'changed outside\n')
    for (const extra of [[], ['--json'], ['--color', 'always']]) {
      expectHarmless(await cli.run([...extra, 'apply', 'web', files.file('target'), '--dry-run']))
      const refused = await cli.run([...extra, 'apply', 'web', files.file('target')])
      expect(refused.exitCode).toBe(4)
      expectHarmless(refused)
      expectHarmless(await cli.run([...extra, 'export', 'web', files.file(`e${extra.length}`)]))
    }
  })
})
