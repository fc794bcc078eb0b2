import { closest } from '../model/closest.ts'
import { InvalidInputError } from '../model/errors.ts'
import { quote } from '../model/quote.ts'
import type { Settings } from '../model/settings.ts'
import { type ConfigFile, readConfigFiles, type Variables } from './files.ts'
import {
  type Flags,
  type Given,
  type Layer,
  layerOfFile,
  layerOfFlags,
  layerOfVariables,
} from './layers.ts'
import { type DefaultInputs, type Setting, type SettingKey, schema, type Values } from './schema.ts'
import type { ValueType } from './values.ts'

export interface Origin {
  readonly value: unknown
  readonly origin: 'flag' | 'env' | 'file' | 'default'
  /** the file's path or the variable's name */
  readonly where?: string
}

export interface LoadedSettings {
  readonly settings: Settings
  /** every setting, where its value comes from */
  readonly origins: Readonly<Record<SettingKey, Origin>>
}

export type HostFacts = Pick<DefaultInputs, 'memoryBytes'>

export interface SettingsInputs {
  readonly flags?: Flags
  readonly env: Variables
  readonly facts: HostFacts
  /** what `--config` named */
  readonly configPath?: string | undefined
  /** the machine-wide file, unless it is /etc/forkpoint/config.json */
  readonly systemPath?: string | undefined
}

/** The effective configuration: flag, then FORKPOINT_* variable, then file, then default. */
export function loadSettings(inputs: SettingsInputs): LoadedSettings {
  const { env, configPath: explicit, systemPath: system } = inputs
  return resolveSettings({ ...inputs, files: readConfigFiles({ explicit, env, system }) })
}

/** The same on files that were already read, the one that wins first. */
export function resolveSettings(
  inputs: Pick<SettingsInputs, 'flags' | 'env' | 'facts'> & { files: readonly ConfigFile[] },
): LoadedSettings {
  const layers = [
    layerOfFlags(inputs.flags ?? {}),
    layerOfVariables(inputs.env),
    ...inputs.files.map(layerOfFile),
  ]
  // Also a value that a stronger layer hides is checked: it would be a surprise later.
  for (const layer of layers) for (const [key, given] of layer) checked(key, given)

  const origins: Partial<Record<SettingKey, Origin>> = {}
  const pick = <K extends SettingKey>(key: K, home: string): Values[K] => {
    const origin = originOf(key, layers, { ...inputs.facts, home })
    origins[key] = origin
    return origin.value as Values[K]
  }
  const home = pick('home', '')
  const settings = assemble((key) => pick(key, home))
  return { settings, origins: origins as Record<SettingKey, Origin> }
}

function originOf(key: SettingKey, layers: readonly Layer[], inputs: DefaultInputs): Origin {
  for (const layer of layers) {
    const given = layer.get(key)
    if (given !== undefined) return { ...given, value: checked(key, given) }
  }
  return { value: schema[key].default(inputs), origin: 'default' }
}

function checked(key: SettingKey, given: Given): unknown {
  const { type, accepts }: Setting<unknown> = schema[key]
  const result = parse(type, given.value)
  if (result?.success) return result.data
  const where = given.where ?? `flag ${key}`
  const subject = given.origin === 'file' ? `${where}: ${key}` : where
  throw new InvalidInputError(`${subject}: not acceptable: ${quote(given.value)}`, {
    remedy: `${key} accepts ${accepts}`,
    detail: { key, origin: given.origin, where },
  })
}

/** Null of a value that cannot even be looked at, such as a promise or an object that throws. */
function parse(type: ValueType<unknown>, value: unknown) {
  try {
    return type.safeParse(value)
  } catch {
    return null
  }
}

function assemble(pick: <K extends SettingKey>(key: K) => Values[K]): Settings {
  const memoryBytes = pick('limits.memory')
  const cpus = pick('limits.cpus')
  const pids = pick('limits.pids')
  return {
    home: pick('home'),
    runtime: pick('runtime'),
    limits: {
      ...(memoryBytes !== null && { memoryBytes }),
      ...(cpus !== null && { cpus }),
      ...(pids !== null && { pids }),
    },
    net: { mode: pick('net.mode'), pool: pick('net.pool') },
    memory: pick('memory'),
    mask: effectiveMask(pick('mask'), pick('mask.add'), pick('mask.remove')),
    volume: { sizeBytes: pick('volume.size') },
    ids: idRange(pick('ids.base'), pick('ids.count')),
    exec: { timeoutMs: pick('exec.timeout') },
    shell: { program: pick('shell.program') },
    spares: { count: pick('spares.count'), memoryBytes: pick('spares.memory') },
    noNewPrivs: pick('noNewPrivs'),
    criu: pick('criu'),
    color: pick('color'),
  }
}

function idRange(base: number, count: number): Settings['ids'] {
  // The kernel's ids are 32 bits wide, and the last one means "no id".
  if (base + count <= 2 ** 32 - 1) return { base, count }
  throw new InvalidInputError(`ids.base ${base} and ids.count ${count} exceed the ids there are`, {
    remedy: 'keep their sum below 4294967296',
  })
}

/** Removing what is not there is refused: the user believes something is visible that is not. */
function effectiveMask(
  base: readonly string[],
  add: readonly string[],
  remove: readonly string[],
): string[] {
  const mask = new Set([...base, ...add])
  for (const pattern of remove) {
    if (mask.delete(pattern)) continue
    const meant = closest(pattern, mask)
    throw new InvalidInputError(`mask.remove: ${quote(pattern)} is no entry of the mask`, {
      remedy:
        meant.length > 0
          ? `name an entry as it stands in the mask, perhaps ${meant.join(' or ')}`
          : 'name an entry as it stands in the mask',
    })
  }
  return [...mask]
}
