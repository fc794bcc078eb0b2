import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { defaultMask } from '../../../src/config/default-mask.ts'
import { ForkpointError, InvalidInputError, NotFoundError } from '../../../src/model/errors.ts'
import { dir, failure, load, write } from './temporary-config.ts'

describe('files', () => {
  test('an unknown key is refused with a suggestion', () => {
    const path = write('system.json', { limits: { memroy: '2g' } })
    const error = failure(() => load())
    expect(error).toBeInstanceOf(InvalidInputError)
    expect(error.message).toContain(path)
    expect(error.message).toContain('limits.memroy')
    expect(error.remedy).toBe('did you mean limits.memory?')
  })

  test.each(['__proto__', 'constructor', 'toString'])('%s is not a setting', (key) => {
    write('system.json', `{"${key}": 1}`)
    expect(failure(() => load())).toBeInstanceOf(InvalidInputError)
  })

  test('a key that is given twice is refused', () => {
    write('system.json', { limits: { pids: 1 }, 'limits.pids': 2 })
    expect(failure(() => load()).message).toMatch(/limits\.pids is given twice/)
  })

  test.each(['', '{', '{"color": "auto",}', '// no\n{}'])('%j is refused as not JSON', (text) => {
    const path = write('system.json', text)
    const error = failure(() => load())
    expect(error).toBeInstanceOf(InvalidInputError)
    expect(error.message).toContain(path)
  })

  test.each(['[]', '"x"', 'null', '3'])('%s is refused as not an object', (text) => {
    write('system.json', text)
    expect(failure(() => load()).message).toMatch(/not a JSON object/)
  })

  test('a file that was requested by name must exist', () => {
    const error = failure(() => load({ configPath: join(dir, 'missing.json') }))
    expect(error).toBeInstanceOf(NotFoundError)
    expect(error.message).toContain('missing.json')
  })

  test('a file that cannot be read is an error and not skipped', () => {
    mkdirSync(join(dir, 'system.json'))
    expect(failure(() => load()).message).toContain('system.json')
  })
})

describe('a file that should not be read', () => {
  const named = (prepare: (path: string) => void) => {
    const path = join(dir, 'named.json')
    prepare(path)
    return failure(() => load({ configPath: path }))
  }

  test('a pipe does not make us wait', () => {
    const error = named((path) => execFileSync('mkfifo', [path]))
    expect(error).toBeInstanceOf(InvalidInputError)
    expect(error.message).toContain('is not a regular file')
  })

  test.each(['/dev/zero', '/dev/full', '/proc'])('%s is not read', (configPath) => {
    expect(failure(() => load({ configPath })).message).toContain('is not a regular file')
  })

  test('nor is an endless one', () => {
    const error = named((path) => {
      writeFileSync(path, '{}')
      truncateSync(path, 2 ** 40)
    })
    expect(error.message).toContain('is larger than 1 MiB')
  })

  test.each(['{"limits":', '['])('%j a hundred thousand times is refused', (opening) => {
    const closing = opening === '[' ? ']' : '}'
    const error = named((path) =>
      writeFileSync(path, `${opening.repeat(50_000)}1${closing.repeat(50_000)}`),
    )
    expect(error).toBeInstanceOf(InvalidInputError)
    expect(error.message).toContain('levels deep')
  })

  test('a file that others can write is refused, because it names programs that root runs', () => {
    const owned = (mode: number, uid = 0, gid = 0) =>
      named((path) => {
        writeFileSync(path, '{}')
        chownSync(path, uid, gid)
        chmodSync(path, mode)
      }).message
    expect(owned(0o666)).toContain('can be written by everybody')
    expect(owned(0o664, 0, 1234)).toContain('can be written by group 1234')
    expect(owned(0o644, 1234)).toContain('belongs to uid 1234')
  })

  test.each(['', '\0', '/etc/\0', 5, null, {}])('%j is not a path', (path) => {
    const error = failure(() => load({ configPath: path as string }))
    expect(error).toBeInstanceOf(ForkpointError)
  })

  test.each(['/proc/x', '/sys', '/dev/shm/x', '/a/../proc', `/${'x'.repeat(4095)}`, '/a\0'])(
    '%j is not a home',
    (home) => {
      expect(failure(() => load({ flags: { home } }))).toBeInstanceOf(InvalidInputError)
      expect(failure(() => load({ env: { FORKPOINT_RUNTIME: home } }))).toBeInstanceOf(
        InvalidInputError,
      )
    },
  )
})

describe('the mask', () => {
  test('keys, cloud credentials, shadow files and histories are hidden by default', () => {
    const { mask } = load().settings.native
    for (const path of [
      '/root/.ssh',
      '/home/*/.ssh',
      '/home/*/.aws',
      '/root/.bash_history',
      '/etc/shadow',
      '/etc/ssh/ssh_host_*',
      '/home/*/.docker/config.json',
    ]) {
      expect(mask).toContain(path)
    }
    expect(new Set(defaultMask).size).toBe(defaultMask.length)
  })

  test('entries can be added and removed without repeating the list', () => {
    write('system.json', { mask: { add: ['/srv/key'], remove: ['/root/.npmrc'] } })
    const { mask } = load().settings.native
    expect(mask).toContain('/srv/key')
    expect(mask).not.toContain('/root/.npmrc')
    expect(mask).toHaveLength(defaultMask.length)
  })

  test('another list replaces the default', () => {
    write('system.json', { mask: ['/only/this'] })
    expect(load().settings.native.mask).toEqual(['/only/this'])
  })

  test('removing what is not in the mask is refused with the nearest entry', () => {
    write('system.json', { mask: { remove: ['/root/.npmr'] } })
    const error = failure(() => load())
    expect(error).toBeInstanceOf(InvalidInputError)
    expect(error.remedy).toContain('/root/.npmrc')
  })
})
