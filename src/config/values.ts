import { posix } from 'node:path'
// The full zod costs every command 12 to 30 ms at start, this one 3 (measured, bundled).
import * as z from 'zod/mini'
import { InvalidInputError } from '../model/errors.ts'
import { parseCidr } from '../model/values/cidr.ts'

// Values come as text from flags and variables, and as JSON from files; each type reads both.
// `accepts` of the setting explains what is valid, so the types have no messages.
export type ValueType<T> = z.ZodMiniType<T, unknown>

/** A value that a parser of the model reads. */
export function parsed<T>(parse: (value: string | number) => T): ValueType<T> {
  const read = z.transform((value: string | number, context) => {
    try {
      return parse(value)
    } catch (error) {
      if (!(error instanceof InvalidInputError)) throw error
      context.issues.push({ code: 'custom', input: value, message: error.message })
      return z.NEVER
    }
  })
  return z.pipe(z.union([z.string(), z.number()]), read) as ValueType<T>
}

/** A value of this type, or `word` (in JSON also null) for none. */
export function orNone<T>(word: string, type: ValueType<T>): ValueType<T | null> {
  const worded = z.transform((value) => (value === word ? null : value))
  return z.pipe(worded, z.union([z.null(), type]))
}

export const absolutePath: ValueType<string> = z.pipe(
  z.string().check(z.refine((path) => path.startsWith('/') && isOneLine(path) && isShort(path))),
  z.transform((path) => posix.resolve(path)),
)

/** File systems of the kernel, where nothing can be stored. */
const kernelPlaces = /^\/(proc|sys|dev)(\/|$)/

export const storagePath: ValueType<string> = absolutePath.check(
  z.refine((path) => !kernelPlaces.test(path)),
)

const maskPattern = z.string().check(z.refine(isMaskPattern))

export const maskPatterns: ValueType<readonly string[]> = z.pipe(
  z.transform((value) => (typeof value === 'string' ? splitList(value) : value)),
  z.array(maskPattern),
)

/** `NAME=SOURCE`: what a name of a template stands for. */
const templatePattern = /^[\w.:/-]{1,256}=\S{1,4096}$/

export const templates: ValueType<readonly string[]> = z.pipe(
  z.transform((value) => (typeof value === 'string' ? splitList(value) : value)),
  z.array(z.string().check(z.refine((text) => templatePattern.test(text)))),
)

export const flag: ValueType<boolean> = z.pipe(z.transform(booleanOfWord), z.boolean())

export const cidr: ValueType<string> = parsed((value) => parseCidr(String(value)))

function isMaskPattern(path: string): boolean {
  const names = path.split('/').slice(1)
  return path.startsWith('/') && isOneLine(path) && names.every(isOrdinaryName)
}

function isOrdinaryName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..'
}

function booleanOfWord(value: unknown): unknown {
  if (typeof value !== 'string') return value
  const word = value.toLowerCase()
  if (['true', 'yes', 'on', '1'].includes(word)) return true
  return ['false', 'no', 'off', '0'].includes(word) ? false : value
}

function splitList(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}

/** The kernel accepts paths of up to 4,095 bytes. */
function isShort(path: string): boolean {
  return Buffer.byteLength(path) <= 4095
}

function isOneLine(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern looks for them
  return !/[\u0000-\u001f\u007f]/.test(text)
}
