import type { Json } from '../../model/environment.ts'
import { type Input, value } from './checked.ts'
import { isText } from './values.ts'

const mostEntries = 1000
const longestKey = 256
const longestLabel = 4096
/** The kernel takes 128 KiB of one variable. */
const longestVariable = 128 * 1024
const deepestJson = 32
const longestJson = 1024 * 1024

/** Text by text; a copy in which also `__proto__` is a key as any other. */
function mapOf<T>(
  accepts: string,
  isKey: (key: string) => boolean,
  read: (given: unknown) => T | undefined,
): Input<Readonly<Record<string, T>>> {
  return value(accepts, (given) => {
    if (!isPlain(given)) return undefined
    const entries = Object.entries(given).map(([key, inner]) => [key, read(inner)] as const)
    const isGood = entries.every(([key, inner]) => isKey(key) && inner !== undefined)
    if (!isGood || entries.length > mostEntries) return undefined
    return Object.fromEntries(entries) as Record<string, T>
  })
}

const isLabelKey = (key: string) => isText(key) && key !== '' && key.length <= longestKey

const labelText = (given: unknown) =>
  isText(given) && given.length <= longestLabel ? given : undefined

const acceptedLabels = `up to ${mostEntries} labels: text of up to ${longestLabel} characters by keys of 1 to ${longestKey}`

export const labels = mapOf(acceptedLabels, isLabelKey, labelText)

/** Null takes a label away. */
export const labelChanges = mapOf(`${acceptedLabels}, or null`, isLabelKey, (given) =>
  given === null ? null : labelText(given),
)

const variableText = (given: unknown) =>
  isText(given) && given.length <= longestVariable ? given : undefined

/** Of one command: programs take any name that the kernel does. */
export const variables = mapOf(
  'variables: text without NUL by names without "="',
  (name) => isText(name) && name !== '' && !name.includes('=') && name.length <= longestKey,
  variableText,
)

/** Of every shell, which takes no other names. */
export const shellVariables = mapOf(
  'variables: text without NUL by names of letters, digits and "_"',
  (name) => /^[A-Za-z_][A-Za-z0-9_]{0,255}$/.test(name),
  variableText,
)

/** What comes back from JSON as it went in. */
export const json: Input<Json> = value(
  `what JSON can say: up to ${deepestJson} deep and 1 MiB long, without cycles, functions and undefined`,
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

/** Not a Map, a Date or another thing whose content is not in its properties. */
function isPlain(given: unknown): given is object {
  if (typeof given !== 'object' || given === null) return false
  const prototype = Object.getPrototypeOf(given)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
