import { InvalidInputError } from '../model/errors.ts'
import { closest } from '../model/text/closest.ts'
import { quote } from '../model/text/quote.ts'
import type { ConfigFile, Variables } from './files.ts'
import { isSettingKey, type SettingKey, settingKeys, variableOf } from './schema.ts'

/** A value that is not checked yet, and where it was given. */
export interface Given {
  readonly value: unknown
  readonly origin: 'flag' | 'env' | 'file'
  /** the file's path or the variable's name */
  readonly where?: string
}

export type Layer = ReadonlyMap<SettingKey, Given>

export type Flags = Readonly<Partial<Record<SettingKey | 'spares', unknown>>>

/** `spares: 0` turns them off. */
const shorthands = new Map<string, SettingKey>([['spares', 'spares.count']])

export function layerOfFlags(flags: Flags): Layer {
  const layer = new Map<SettingKey, Given>()
  for (const [key, value] of Object.entries(flags)) {
    // Command line parsers pass every option, as undefined if it was not given.
    if (value === undefined) continue
    layer.set(requireKey(key, 'flag'), { value, origin: 'flag' })
  }
  return layer
}

/** An empty variable counts as not set. Variables that are not settings are ignored. */
export function layerOfVariables(env: Variables): Layer {
  const layer = new Map<SettingKey, Given>()
  for (const key of settingKeys) {
    const where = variableOf(key)
    const value = env[where]
    if (value) layer.set(key, { value, origin: 'env', where })
  }
  return layer
}

/** Keys may be nested objects or dotted: `{"limits": {"memory": "2g"}, "net.mode": "nat"}`. */
export function layerOfFile(file: ConfigFile): Layer {
  if (!isObject(file.content)) {
    throw new InvalidInputError(`${file.path}: not a JSON object: ${quote(file.content)}`, {
      remedy: 'write settings as one object, such as {"limits": {"memory": "2g"}}',
    })
  }
  const layer = new Map<SettingKey, Given>()
  for (const [key, value] of flatten(file.content, '')) {
    const known = requireKey(key, file.path)
    if (layer.has(known)) {
      throw new InvalidInputError(`${file.path}: ${known} is given twice`, {
        remedy: 'keep either the nested or the dotted form',
      })
    }
    layer.set(known, { value, origin: 'file', where: file.path })
  }
  return layer
}

function* flatten(object: object, prefix: string): Generator<[key: string, value: unknown]> {
  for (const [name, value] of Object.entries(object)) {
    const key = prefix + name
    if (isObject(value)) yield* flatten(value, `${key}.`)
    else yield [key, value]
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function requireKey(key: string, where: string): SettingKey {
  if (isSettingKey(key)) return key
  const long = shorthands.get(key)
  if (long !== undefined) return long
  const meant = closest(key, settingKeys)
  throw new InvalidInputError(`${where}: unknown setting ${quote(key)}`, {
    remedy:
      meant.length > 0
        ? `did you mean ${meant.join(' or ')}?`
        : `the settings are ${settingKeys.join(', ')}`,
    detail: { key, where },
  })
}
