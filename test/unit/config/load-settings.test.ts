import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { hostFacts } from '../../../src/config/host-facts.ts'
import { resolveSettings, type SettingsInputs } from '../../../src/config/load-settings.ts'
import { schema, settingKeys, variableOf } from '../../../src/config/schema.ts'
import { InvalidInputError } from '../../../src/model/errors.ts'
import { dir, facts, failure, load, write } from './temporary-config.ts'

describe('defaults', () => {
  test('without any configuration everything has a sensible value', () => {
    const { settings, origins } = load()
    expect(settings).toMatchObject({
      home: '/var/lib/forkpoint',
      runtime: '/var/lib/forkpoint-runtime',
      limits: { memoryBytes: 6 * 1024 ** 3, pids: 4096 },
      net: { mode: 'none' },
      exec: { timeoutMs: null },
      shell: { program: '/bin/bash', login: false },
      color: 'auto',
      native: {
        net: { pool: '10.213.0.0/16' },
        ids: { base: 1_000_000, count: 65_536 },
        noNewPrivs: false,
        criu: null,
      },
    })
    expect(settings.limits).not.toHaveProperty('cpus')
    expect(Object.keys(origins).sort()).toEqual([...settingKeys].sort())
    expect(new Set(Object.values(origins).map(({ origin }) => origin))).toEqual(
      new Set(['default']),
    )
  })

  test('every default is a value that a user could have written', () => {
    for (const key of settingKeys) {
      const value = schema[key].default(facts)
      const { origins } = resolveSettings({ env: {}, facts, files: [file({ [key]: value })] })
      // Durations are written in seconds and kept in milliseconds; the default has none.
      expect(origins[key].value).toEqual(value)
    }
  })

  test('`spares: 0` is short for `spares.count: 0`', () => {
    const { settings } = resolveSettings({ env: {}, facts, files: [file({ spares: 0 })] })
    expect(settings.spares.count).toBe(0)
  })

  test('the private tools stay where they are if the home moves', () => {
    expect(load({ env: { FORKPOINT_HOME: '/srv/fp/' } }).settings).toMatchObject({
      home: '/srv/fp',
      runtime: '/var/lib/forkpoint-runtime',
    })
  })

  test('the memory of this machine is measured', () => {
    expect(hostFacts().memoryBytes).toBeGreaterThan(64 * 1024 ** 2)
  })
})

function file(content: unknown) {
  return { path: '/etc/example.json', content }
}

describe('precedence', () => {
  test('flag beats variable beats explicit file beats user file beats system file', () => {
    const explicit = write('explicit.json', { limits: { pids: 13 } })
    const user = write('.config/forkpoint/config.json', { limits: { pids: 14 } })
    const system = write('system.json', { limits: { pids: 15 } })
    const env = { FORKPOINT_LIMITS_PIDS: '12' }
    const pids = (inputs: Partial<SettingsInputs>) => load(inputs).origins['limits.pids']

    expect(pids({ flags: { 'limits.pids': '11' }, env, configPath: explicit })).toEqual({
      value: 11,
      origin: 'flag',
    })
    expect(pids({ env, configPath: explicit })).toEqual({
      value: 12,
      origin: 'env',
      where: 'FORKPOINT_LIMITS_PIDS',
    })
    expect(pids({ configPath: explicit })).toEqual({ value: 13, origin: 'file', where: explicit })
    expect(pids({ env: { FORKPOINT_CONFIG: explicit } })).toMatchObject({ where: explicit })
    expect(pids({})).toEqual({ value: 14, origin: 'file', where: user })
    rmSync(user)
    expect(pids({})).toEqual({ value: 15, origin: 'file', where: system })
    rmSync(system)
    expect(pids({})).toEqual({ value: 4096, origin: 'default' })
  })

  test('files that set different things all apply', () => {
    write('system.json', { net: { mode: 'nat' }, color: 'never' })
    write('.config/forkpoint/config.json', { 'limits.cpus': 1.5, color: 'always' })
    expect(load().settings).toMatchObject({
      net: { mode: 'nat' },
      limits: { cpus: 1.5 },
      color: 'always',
    })
  })

  test('--config beats FORKPOINT_CONFIG', () => {
    const a = write('a.json', { color: 'never' })
    const b = write('b.json', { color: 'always' })
    const { settings } = load({ configPath: a, env: { FORKPOINT_CONFIG: b } })
    expect(settings.color).toBe('never')
  })

  test('XDG_CONFIG_HOME moves the user file', () => {
    write('xdg/forkpoint/config.json', { color: 'never' })
    expect(load({ env: { XDG_CONFIG_HOME: join(dir, 'xdg') } }).settings.color).toBe('never')
  })

  test('an option that was not given and an empty variable count as not set', () => {
    const { settings } = load({
      flags: { 'limits.memory': undefined },
      env: { FORKPOINT_LIMITS_PIDS: '' },
    })
    expect(settings.limits.pids).toBe(4096)
  })
})

describe('values', () => {
  test('every setting has a variable', () => {
    expect(variableOf('limits.memory')).toBe('FORKPOINT_LIMITS_MEMORY')
    expect(variableOf('noNewPrivs')).toBe('FORKPOINT_NO_NEW_PRIVS')
    const env = {
      FORKPOINT_RUNTIME: '/opt/rt',
      FORKPOINT_LIMITS_MEMORY: '2g',
      FORKPOINT_LIMITS_PIDS: 'none',
      FORKPOINT_NET_MODE: 'nat',
      FORKPOINT_NO_NEW_PRIVS: 'yes',
      FORKPOINT_EXEC_TIMEOUT: '5m',
      FORKPOINT_CRIU: '/usr/sbin/criu',
      FORKPOINT_MASK_ADD: '/srv/secret, /srv/*/key',
      FORKPOINT_VOLUME_SIZE: '10g',
    }
    const { settings } = load({ env })
    expect(settings).toMatchObject({
      runtime: '/opt/rt',
      limits: { memoryBytes: 2 * 1024 ** 3 },
      net: { mode: 'nat' },
      exec: { timeoutMs: 300_000 },
      native: {
        noNewPrivs: true,
        criu: '/usr/sbin/criu',
        volume: { sizeBytes: 10 * 1024 ** 3 },
      },
    })
    expect(settings.limits).not.toHaveProperty('pids')
    expect(settings.native.mask).toEqual(expect.arrayContaining(['/srv/secret', '/srv/*/key']))
  })

  test.each([
    ['FORKPOINT_LIMITS_MEMORY', 'lots', /size/],
    ['FORKPOINT_LIMITS_MEMORY', '12', /at least 16m/],
    ['FORKPOINT_NET_MODE', 'bridge', /none or nat/],
    ['FORKPOINT_NET_POOL', '10.1.2.3/16', /IPv4 network/],
    ['FORKPOINT_NET_POOL', '10.1.2.0/30', /at least a \/29/],
    ['FORKPOINT_HOME', 'relative/path', /absolute path/],
    ['FORKPOINT_NO_NEW_PRIVS', 'perhaps', /true or false/],
    ['FORKPOINT_EXEC_TIMEOUT', '0', /seconds/],
    ['FORKPOINT_MASK', '/a/../b', /absolute paths/],
    ['FORKPOINT_IDS_BASE', '-1', /user id/],
  ])('%s=%s is refused, naming the variable and what is accepted', (name, value, accepted) => {
    const error = failure(() => load({ env: { [name]: value } }))
    expect(error).toBeInstanceOf(InvalidInputError)
    expect(error.message).toContain(name)
    expect(error.message).toContain(value)
    expect(error.remedy).toMatch(accepted)
  })

  test('ids beyond what the kernel has are refused', () => {
    const env = { FORKPOINT_IDS_BASE: '4294967290' }
    expect(failure(() => load({ env })).message).toMatch(/ids\.base 4294967290/)
  })

  test('a bad value in a file is reported with the file and the key, even if another value overrides it', () => {
    const path = write('system.json', { exec: { timeout: 'soon' } })
    const error = failure(() => load({ flags: { 'exec.timeout': 3 } }))
    expect(error.message).toContain(path)
    expect(error.message).toContain('exec.timeout')
    expect(error.message).toContain('"soon"')
  })
})
