import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { defaultMask } from '../../../src/config/default-mask.ts'
import { InvalidInputError, NotFoundError } from '../../../src/model/errors.ts'
import { dir, failure, load, write } from './temporary-config.ts'

describe('files', () => {
  test('an unknown key is refused with what was probably meant', () => {
    const path = write('system.json', { limits: { memroy: '2g' } })
    const error = failure(() => load())
    expect(error).toBeInstanceOf(InvalidInputError)
    expect(error.message).toContain(path)
    expect(error.message).toContain('limits.memroy')
    expect(error.remedy).toBe('did you mean limits.memory?')
  })

  test.each(['__proto__', 'constructor', 'toString'])('%s is no setting', (key) => {
    write('system.json', `{"${key}": 1}`)
    expect(failure(() => load())).toBeInstanceOf(InvalidInputError)
  })

  test('a key given twice is refused rather than guessed', () => {
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

  test('a file asked for by name must exist', () => {
    const error = failure(() => load({ configPath: join(dir, 'missing.json') }))
    expect(error).toBeInstanceOf(NotFoundError)
    expect(error.message).toContain('missing.json')
  })

  test('a file that cannot be read is an error and not skipped', () => {
    mkdirSync(join(dir, 'system.json'))
    expect(failure(() => load()).message).toContain('system.json')
  })
})

describe('the mask', () => {
  test('keys, cloud credentials, shadow files and histories are hidden by default', () => {
    const { mask } = load().settings
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
    const { mask } = load().settings
    expect(mask).toContain('/srv/key')
    expect(mask).not.toContain('/root/.npmrc')
    expect(mask).toHaveLength(defaultMask.length)
  })

  test('a list of its own replaces the default', () => {
    write('system.json', { mask: ['/only/this'] })
    expect(load().settings.mask).toEqual(['/only/this'])
  })

  test('removing what is not in the mask is refused with the nearest entry', () => {
    write('system.json', { mask: { remove: ['/root/.npmr'] } })
    const error = failure(() => load())
    expect(error).toBeInstanceOf(InvalidInputError)
    expect(error.remedy).toContain('/root/.npmrc')
  })
})
