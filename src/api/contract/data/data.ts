import * as z from 'zod/mini'
import type { Json } from '../../../model/environment.ts'
import {
  type EnvironmentId,
  isEnvironmentId,
  isSnapshotId,
  type OperationId,
  type SnapshotId,
} from '../../../model/ids.ts'

/** Data that crosses the waist: read-only at every level. Ids and names keep their brands. */
export type Frozen<T> = unknown extends T
  ? unknown
  : T extends string | number | boolean | null | undefined
    ? T
    : T extends readonly (infer Item)[]
      ? readonly Frozen<Item>[]
      : { readonly [K in keyof T]: Frozen<T[K]> }

/** The type of the data that a schema accepts. */
export type Data<S> = S extends z.ZodMiniType<infer T, infer _> ? Frozen<T> : never

/** A branded string, which `isOurs` recognizes. */
function branded<T extends string>(pattern: RegExp, isOurs: (given: unknown) => given is T) {
  const text = z.string().check(z.regex(pattern))
  return z.pipe(text, z.custom<T>(isOurs))
}

const isOperationId = (given: unknown): given is OperationId =>
  typeof given === 'string' && given.startsWith('o')

export const environmentId = branded<EnvironmentId>(/^e/, isEnvironmentId)
export const snapshotId = branded<SnapshotId>(/^s/, isSnapshotId)
export const operationId = branded<OperationId>(/^o/, isOperationId)

/** Milliseconds since 1970. */
export const time = z.number()

export const bytes = z.number()

/** An object, not copied: a schema that copies would lose a key `__proto__`. */
const anyObject = z.unknown().register(z.globalRegistry, { type: 'object' })

export const textMap = z.pipe(anyObject, z.custom<Record<string, string>>(isTextMap))

function isTextMap(given: unknown): given is Record<string, string> {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return false
  return Object.values(given).every((value) => typeof value === 'string')
}

/** Any JSON. */
export const json = z.pipe(z.unknown(), z.custom<Json>())

export const phases = z.array(z.object({ name: z.string(), ms: z.number() }))

export const errorData = z.object({
  code: z.string(),
  message: z.string(),
  remedy: z.exactOptional(z.string()),
  detail: z.exactOptional(z.record(z.string(), z.unknown())),
})
