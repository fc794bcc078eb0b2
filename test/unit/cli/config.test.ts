import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { settingKeys } from '../../../src/config/schema.ts'
import { runCaptured } from './run-captured.ts'

let dir: string

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'forkpoint-cli-config-'))
  vi.stubEnv('XDG_CONFIG_HOME', dir)
})

afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(dir, { recursive: true, force: true })
})

describe('forkpoint config', () => {
  test('shows every setting with its value and origin', async () => {
    const { exitCode, stdout } = await runCaptured('config')
    expect(exitCode).toBe(0)
    for (const key of settingKeys) expect(stdout).toContain(`\n${key} `)
  })

  test('--json is an array of keys, values, origins and variables', async () => {
    vi.stubEnv('FORKPOINT_NET_MODE', 'nat')
    const entries = JSON.parse((await runCaptured('config', '--json')).stdout)
    expect(entries.map((entry: { key: string }) => entry.key)).toEqual(settingKeys)
    expect(entries).toContainEqual({
      key: 'net.mode',
      value: 'nat',
      origin: 'env',
      where: 'FORKPOINT_NET_MODE',
      variable: 'FORKPOINT_NET_MODE',
    })
  })

  test('of one key says what it accepts', async () => {
    const { stdout } = await runCaptured('config', 'limits.pids')
    expect(stdout).toContain('4096')
    expect(stdout).toContain('FORKPOINT_LIMITS_PIDS')
    expect(stdout).toContain('a whole number from 8 to 4000000, or none')
  })

  test('takes --config and --home before and after the verb', async () => {
    const file = join(dir, 'mine.json')
    writeFileSync(file, '{"net.mode": "nat"}')
    const before = await runCaptured('--config', file, '--home', dir, 'config', '--json')
    const after = await runCaptured('config', '--json', '--config', file, '--home', dir)
    expect(before).toEqual(after)
    const entries = JSON.parse(before.stdout)
    expect(entries).toContainEqual(
      expect.objectContaining({ key: 'home', value: dir, origin: 'flag' }),
    )
    expect(entries).toContainEqual(expect.objectContaining({ key: 'net.mode', where: file }))
  })

  test('--home moves the store, not the tools that the launcher has installed', async () => {
    vi.stubEnv('FORKPOINT_RUNTIME', '/opt/tools')
    const { stdout } = await runCaptured('config', 'runtime', '--home', dir, '--json')
    expect(JSON.parse(stdout)).toMatchObject({ value: '/opt/tools' })
  })

  test('a missing --config file is exit code 3', async () => {
    const { exitCode, stderr } = await runCaptured('config', '--config', join(dir, 'none.json'))
    expect(exitCode).toBe(3)
    expect(stderr).toContain('no configuration file')
  })
})
