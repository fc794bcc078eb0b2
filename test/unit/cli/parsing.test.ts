import { closeSync, openSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { parseCopy } from '../../../src/cli/arguments/copy-paths.ts'
import { formatAddress, parseListen } from '../../../src/cli/arguments/port-address.ts'
import { exitCodeOfCommand } from '../../../src/cli/exec/exit-code.ts'
import { stdinIsGiven } from '../../../src/cli/exec/stdin.ts'
import { mentionedVerbs } from '../../../src/cli/program.ts'
import { InvalidInputError } from '../../../src/model/errors.ts'

describe('cp', () => {
  test('copies in when the target is inside, out when the source is', () => {
    expect(parseCopy('./app', 'web:/srv')).toEqual({
      direction: 'in',
      env: 'web',
      inside: '/srv',
      host: './app',
    })
    expect(parseCopy('web:/etc/hosts', '.')).toEqual({
      direction: 'out',
      env: 'web',
      inside: '/etc/hosts',
      host: '.',
    })
  })

  test('accepts a host path with a colon after a slash', () => {
    expect(parseCopy('./a:b', 'web:/x')).toMatchObject({ direction: 'in', host: './a:b' })
    expect(parseCopy('web:/a:b', '/tmp/c:d')).toMatchObject({ inside: '/a:b', host: '/tmp/c:d' })
  })

  test.each([
    ['a:/x', 'b:/y'],
    ['a', 'b'],
    ['web:relative', '.'],
    ['', 'web:/x'],
    ['web:/x', ''],
    // Where the shell passed bytes that are not UTF-8.
    ['web:/x', 'caf\ufffd'],
    ['web:/caf\ufffd', '.'],
  ])('refuses %j to %j', (source, target) => {
    expect(() => parseCopy(source, target)).toThrow(InvalidInputError)
  })
})

describe('port --listen', () => {
  test.each([
    ['8080', { listenPort: 8080 }],
    ['0', { listenPort: 0 }],
    ['0.0.0.0:80', { listenHost: '0.0.0.0', listenPort: 80 }],
    ['[::1]:80', { listenHost: '::1', listenPort: 80 }],
    ['localhost:80', { listenHost: 'localhost', listenPort: 80 }],
  ])('reads %s', (text, address) => {
    expect(parseListen(text)).toEqual(address)
  })

  test.each(['', ':', 'web:80', '1.2.3.4', '1.2.3.4:', '65536', '::1:80', '-1', '80x', '[::1]'])(
    'refuses %j',
    (text) => {
      expect(() => parseListen(text)).toThrow(InvalidInputError)
    },
  )

  test('addresses are printed as they can be typed into a URL', () => {
    expect(formatAddress('127.0.0.1', 80)).toBe('127.0.0.1:80')
    expect(formatAddress('::1', 80)).toBe('[::1]:80')
  })
})

describe('exit codes of commands', () => {
  test('are passed through, 124 for a timeout and 128 + n for a signal', () => {
    expect(exitCodeOfCommand({ exitCode: 0, signal: null })).toBe(0)
    expect(exitCodeOfCommand({ exitCode: 77, signal: null })).toBe(77)
    expect(exitCodeOfCommand({ exitCode: null, signal: 'SIGKILL' })).toBe(137)
    expect(exitCodeOfCommand({ exitCode: null, signal: 'SIGTERM', timedOut: true })).toBe(124)
  })
})

describe('stdin', () => {
  test('is passed on if it is a file, but not if it is a device or closed', () => {
    for (const [path, given] of [
      [import.meta.filename, true],
      ['/dev/null', false],
    ] as const) {
      const fd = openSync(path, 'r')
      expect(stdinIsGiven(fd)).toBe(given)
      closeSync(fd)
    }
    expect(stdinIsGiven(9999)).toBe(false)
  })
})

describe('verbs', () => {
  test('are only recognized before --, so that a command inside loads nothing', () => {
    expect(mentionedVerbs(['--json', 'exec', 'web', '--', 'ls'])).toEqual(['exec'])
    expect(mentionedVerbs(['--home', '/x', 'ls'])).toEqual(['ls'])
    expect(mentionedVerbs(['constructor'])).toEqual([])
  })
})
