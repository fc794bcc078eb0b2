import * as z from 'zod/mini'
import type { Json } from '../../model/environment.ts'
import { type Input, value } from './checked.ts'
import { isText } from './values.ts'

const mostEntries = 1000
const longestKey = 256
const longestLabel = 4096
/** The kernel's limit for one variable. */
const longestVariable = 128 * 1024
const deepestJson = 32
const longestJson = 1024 * 1024

/** A map with text keys, as a copy in which even `__proto__` is an ordinary key. */
function mapOf<T>(
  accepts: string,
  isKey: (key: string) => boolean,
  read: (given: unknown) => T | undefined,
): Input<Readonly<Record<string, T>>> {
  const readMap = (given: unknown) => {
    if (!isPlain(given)) return undefined
    const entries = Object.entries(given).map(([key, inner]) => [key, read(inner)] as const)
    const isGood = entries.every(([key, inner]) => isKey(key) && inner !== undefined)
    if (!isGood || entries.length > mostEntries) return undefined
    return Object.fromEntries(entries) as Record<string, T>
  }
  // A schema that copies would lose `__proto__`, so JSON Schema gets its type from the registry.
  const base = z.unknown().register(z.globalRegistry, { type: 'object', description: accepts })
  return value(accepts, readMap, base)
}

const isLabelKey = (key: string) => isText(key) && key !== '' && key.length <= longestKey

const labelText = (given: unknown) =>
  isText(given) && given.length <= longestLabel ? given : undefined

const acceptedLabels = `up to ${mostEntries} labels, with keys of 1 to ${longestKey} characters and text of up to ${longestLabel}`

export const labels = mapOf(acceptedLabels, isLabelKey, labelText)

/** Null removes a label. */
export const labelChanges = mapOf(`${acceptedLabels}, or null`, isLabelKey, (given) =>
  given === null ? null : labelText(given),
)

const variableText = (given: unknown) =>
  isText(given) && given.length <= longestVariable ? given : undefined

/** Variables of one command: a program accepts every name that the kernel does. */
export const variables = mapOf(
  'variables, with names without "=" and text without NUL',
  (name) => isText(name) && name !== '' && !name.includes('=') && name.length <= longestKey,
  variableText,
)

/** Variables of every shell, which accepts no other names. */
export const shellVariables = mapOf(
  'variables, with names of letters, digits and "_" and text without NUL',
  (name) => /^[A-Za-z_][A-Za-z0-9_]{0,255}$/.test(name),
  variableText,
)

/** A value that JSON preserves. */
export const json: Input<Json> = value(
  `JSON of up to ${deepestJson} levels and 1 MiB, without cycles, functions and undefined`,
  (given) => {
    const copy = jsonCopy(given, deepestJson)
    return copy !== undefined && JSON.stringify(copy).length <= longestJson ? copy : undefined
  },
)

function jsonCopy(given: unknown, depth: number): Json | undefined {
  if (given === null || typeof given === 'string' || typeof given === 'boolean') return given
  if (typeof given === 'number') return Number.isFinite(given) ? given : undefined
  if (typeof given !== 'object' || depth === 0) return undefined
  if (Array.isArray(given)) {
    const items = Array.from(given, (item) => jsonCopy(item, depth - 1))
    return items.every((item) => item !== undefined) ? items : undefined
  }
  if (!isPlain(given)) return undefined
  const entries = Object.entries(given).map(([key, inner]) => [key, jsonCopy(inner, depth - 1)])
  return entries.every(([, inner]) => inner !== undefined) ? Object.fromEntries(entries) : undefined
}

/** Not a Map, a Date or anything else whose content is not in its properties. */
function isPlain(given: unknown): given is object {
  if (typeof given !== 'object' || given === null) return false
  const prototype = Object.getPrototypeOf(given)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
