import { describe, expect, test } from 'vitest'
import { verbs } from '../../../src/cli/arguments/verbs.ts'
import { runCaptured } from './run-captured.ts'

const userVerbs = [...verbs].filter(([, verb]) => !verb.hidden).map(([name]) => name)

describe('a wrong command line', () => {
  test.each([
    [['exce'], "unknown command 'exce'", 'did you mean exec?'],
    [['vvvvv', 'web'], "unknown command 'vvvvv'", 'see forkpoint --help'],
    [['ls', '--jsn'], "unknown option '--jsn'", 'did you mean --json?'],
    [['ls', 'web'], "too many arguments for 'ls'", 'see forkpoint ls --help'],
    [['pause'], "missing required argument 'env'", 'see forkpoint pause --help'],
    [['create', '--name'], "option '--name <name>' argument missing", 'create --help'],
    [['create', 'web', 'ls'], 'unexpected argument: "ls"', 'a command after --'],
    [['create', 'web', 'x', '--', 'ls'], 'unexpected argument: "x"', 'a command after --'],
    [['create', 'web', '--name', 'try'], 'two names were given: "web" and "try"', 'leave out'],
    [['create', '-p', '0'], '--publish: not a port: "0"', '8080:80'],
    [['port', 'web', '8080:80', '--listen', '1'], 'both the port and --listen', 'one of them'],
    [['list'], "unknown command 'list'", 'forkpoint ls'],
    [['delete', 'web'], "unknown command 'delete'", 'forkpoint rm'],
    [['destroy', 'web'], "unknown command 'destroy'", 'forkpoint rm'],
    [['stop', 'web'], "unknown command 'stop'", 'forkpoint pause'],
    [['start', 'web'], "unknown command 'start'", 'forkpoint resume'],
    [['commit', 'web'], "unknown command 'commit'", 'forkpoint snapshot'],
    [['checkpoint', 'web'], "unknown command 'checkpoint'", 'forkpoint snapshot'],
    [['branch', 'web'], "unknown command 'branch'", 'forkpoint fork'],
    [['--home', '/no/such/home', 'ls'], '"/no/such/home" holds no store', '--init'],
    [['config', 'set', 'net.mode', 'wifi'], 'invalid value: "wifi"', 'none or nat'],
    [['config', 'set', 'net.mod', 'nat'], 'unknown setting "net.mod"', 'net.mode'],
    [['create', '--net', 'wifi'], "argument 'wifi' is invalid", 'create --help'],
    [['create', '--memory', 'lots'], '--memory: not a size: "lots"', 'give bytes'],
    [['create', '--memory', '0'], '--memory: too little memory: "0"', 'give at least 16m'],
    [['create', '--memory', '2'], '--memory: too little memory: "2"', 'give at least 16m'],
    [['create', '--memory', '-1'], '--memory: not a size: "-1"', 'give bytes'],
    [['create', '--memory', '1e309'], '--memory: not a size: "1e309"', 'give bytes'],
    [['create', '--memory', '9999999p'], '--memory: not a size', 'give bytes'],
    [
      ['create', '--pids', '99999999999'],
      '--pids: not a usable process limit',
      'give a whole number from 8 to 4000000',
    ],
    [
      ['create', '--pids', '1'],
      '--pids: not a usable process limit',
      'give a whole number from 8 to 4000000',
    ],
    [['create', '--pids', '1.5'], '--pids: not a count: "1.5"', 'whole number'],
    [['create', '--cpus', '0'], '--cpus: not a number of CPUs: "0"', 'at least 0.01'],
    [['create', '--cpus', 'NaN'], '--cpus: not a number of CPUs: "NaN"', 'at least 0.01'],
    [['exec', 'web', '--timeout', '0', '--', 'x'], '--timeout: not a timeout: "0"', 'at least 1ms'],
    [['exec', 'web', '--timeout', '9e9', '--', 'x'], '--timeout: not a duration', 'up to 24d'],
    [['fork', 'web', '-n', '0'], '--count: not a count: "0"', 'at least 1'],
    [['port', 'web', '0'], 'not a port', '1 to 65535'],
    [['port', 'web', '80x'], 'not a port: "80x"', '1 to 65535'],
    [['ls', '--home', ''], '--home: the path is empty', 'leave out the option'],
    [['ls', '--config', ''], '--config: the path is empty', 'leave out the option'],
    [
      ['ls', '--config', '/dev/zero'],
      'is not a regular file',
      'put the settings into a regular file',
    ],
    [['ls', '--home', '/proc/1/home'], 'home: invalid value', 'not in /proc'],
    [['snapshot', 'web', '--metadata', '{'], '--metadata: not JSON', 'in single quotes'],
    [['create', '-e', 'NOVALUE'], '--env: not KEY=VALUE: "NOVALUE"', 'MODE=debug'],
    [['exec', 'web', 'ls', '-l'], "unknown option '-l'", 'put -- before the command'],
    [['exec', 'web', '--'], 'no command was given', 'write it after --'],
    [['exec', 'web', '--attach', 'c1', '--', 'ls'], '--attach follows a command', 'leave out'],
    [['rm'], 'no environment was named', 'forkpoint ls'],
    [['rm', '--all'], '--all removes every environment', 'add --force'],
    [['cp', 'a', 'b'], 'neither side is inside', 'ENV:/path'],
    [['port', 'web', '70000'], 'not a port: "70000"', '1 to 65535'],
    [['config', 'limits.memry'], 'unknown setting "limits.memry"', 'did you mean limits.memory?'],
    [['completion', 'tcsh'], "'tcsh' is invalid", 'completion --help'],
  ])('%j is refused with exit code 2 and a remedy', async (argv, message, remedy) => {
    const { exitCode, stdout, stderr } = await runCaptured(...argv)
    expect(exitCode).toBe(2)
    expect(stdout).toBe('')
    expect(stderr).toContain(message)
    expect(stderr).toContain(remedy)
    expect(stderr).not.toContain('    at ')
  })

  test('is one JSON document on stdout with --json', async () => {
    const { exitCode, stdout, stderr } = await runCaptured('exce', '--json')
    expect(exitCode).toBe(2)
    expect(stderr).toBe('')
    expect(JSON.parse(stdout)).toEqual({
      error: {
        code: 'invalid_input',
        message: "unknown command 'exce'",
        remedy: 'did you mean exec?',
      },
    })
  })

  test('keeps --json after -- for the command inside', async () => {
    const { stdout, stderr } = await runCaptured('exce', '--', 'npm', '--json')
    expect(stdout).toBe('')
    expect(stderr).toContain('did you mean exec?')
  })

  test('without a verb shows the help and exits with 2', async () => {
    const { exitCode, stdout, stderr } = await runCaptured()
    expect(exitCode).toBe(2)
    expect(stdout).toBe('')
    for (const verb of userVerbs) expect(stderr).toContain(`  ${verb} `)
  })
})

describe('help', () => {
  test.each(userVerbs)('of %s shows examples and the global options', async (verb) => {
    const { exitCode, stdout } = await runCaptured(verb, '--help')
    expect(exitCode).toBe(0)
    expect(stdout).toContain(`Usage: forkpoint ${verb}`)
    expect(stdout).toContain('Examples:')
    expect(stdout).toContain('--json')
    expect(stdout).toContain('--home')
  })

  test('of the program lists every verb once, except hidden ones', async () => {
    const { exitCode, stdout } = await runCaptured('--help')
    expect(exitCode).toBe(0)
    for (const verb of userVerbs) expect(stdout).toContain(`  ${verb} `)
    expect(stdout).not.toContain('__complete')
  })

  test('is also a verb', async () => {
    const asVerb = await runCaptured('help', 'exec')
    expect(asVerb.exitCode).toBe(0)
    expect(asVerb.stdout).toBe((await runCaptured('exec', '--help')).stdout)
  })

  test('--version prints the version of the package', async () => {
    expect(await runCaptured('--version')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    })
  })
})
