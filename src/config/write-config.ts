import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { type ConfigFile, readConfigFiles, userConfigDir, type Variables } from './files.ts'
import { resolveSettings } from './load-settings.ts'
import type { HostFacts, SettingKey } from './schema.ts'

interface WriteInputs {
  readonly env: Variables
  readonly facts: HostFacts
  /** the file named by `--config` */
  readonly configPath?: string | undefined
}

/** Writes a setting into the user's configuration file, or the one that is named; returns its path. */
export function writeSetting(
  key: SettingKey,
  value: string,
  { env, facts, configPath }: WriteInputs,
): string {
  const named = configPath ?? (env.FORKPOINT_CONFIG || undefined)
  const path = named === undefined ? userConfig(env) : resolve(named)
  const files = readConfigFiles({ explicit: configPath, env })
  const { content = {} } = files.find((file) => file.path === path) ?? {}
  const next: ConfigFile = { path, content: { ...without(content, key.split('.')), [key]: value } }
  // Refuses what the next command would refuse, while the file is still as it was.
  resolveSettings({ env: {}, facts, files: [next] })
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, `${JSON.stringify(next.content, null, 2)}\n`, { mode: 0o600 })
  renameSync(draft, path)
  return path
}

function userConfig(env: Variables): string {
  return join(userConfigDir(env), 'forkpoint/config.json')
}

/** Without a setting, whether its key is written with dots or as nested objects. */
function without(content: unknown, words: readonly string[]): object {
  if (typeof content !== 'object' || content === null || Array.isArray(content)) return {}
  const dotted = words.join('.')
  const entries = Object.entries(content).flatMap(([name, value]): [string, unknown][] => {
    if (name === dotted) return []
    if (name !== words[0] || typeof value !== 'object' || value === null) return [[name, value]]
    if (Array.isArray(value)) return [[name, value]]
    const inner = without(value, words.slice(1))
    return Object.keys(inner).length === 0 ? [] : [[name, inner]]
  })
  return Object.fromEntries(entries)
}
