// The full zod costs every command 12 to 30 ms at start, this one 3 (measured, bundled).
import * as z from 'zod/mini'
import { ForkpointError, InvalidInputError } from '../../model/errors.ts'
import { closest } from '../../model/text/closest.ts'
import { quote } from '../../model/text/quote.ts'
import { withoutUndefined } from '../../model/values/without-undefined.ts'

/** Checks a value from a caller, whatever its type claims. Its messages say what it accepts. */
export type Input<T> = z.ZodMiniType<T, unknown>

/**
 * A checked copy of what a caller gave, which the caller can no longer change; `what` names it in
 * messages. Every value from a caller goes through this before it is used.
 */
export function checked<T>(what: string, input: Input<T>, given: unknown): T {
  const result = parse(what, input, given)
  if (result.success) return result.data
  const [issue] = result.error.issues
  if (issue?.code === 'unrecognized_keys') throw unknownKey(what, input, issue.keys[0] ?? '')
  const path = [what, ...(issue?.path ?? [])].map(String)
  const value = quote(valueAt(given, issue?.path ?? []))
  throw new InvalidInputError(`${path.join('.')}: not acceptable: ${value}`, {
    remedy: `give ${issue?.message ?? 'something else'}`,
    detail: { option: path.join('.') },
  })
}

function parse<T>(what: string, input: Input<T>, given: unknown) {
  try {
    return input.safeParse(given)
  } catch (error) {
    if (error instanceof ForkpointError) throw error
    // A getter or a proxy of the caller threw.
    throw new InvalidInputError(
      `${what}: cannot be read: ${quote(error instanceof Error ? error.message : error)}`,
      {
        remedy: 'give plain values',
        cause: error,
      },
    )
  }
}

function unknownKey(what: string, input: Input<unknown>, key: string): InvalidInputError {
  const keys = knownKeys.get(input) ?? []
  const meant = closest(key, keys)
  return new InvalidInputError(`${what}: unknown option ${quote(key)}`, {
    remedy:
      meant.length > 0
        ? `did you mean ${meant.join(' or ')}?`
        : `the options are ${keys.join(', ')}`,
    detail: { option: key },
  })
}

function valueAt(given: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (value as Record<PropertyKey, unknown> | null | undefined)?.[key],
    given,
  )
}

/** The part of the check that JSON Schema can express; `read` does the rest. */
type Base = z.ZodMiniType

/**
 * A value that `read` converts, or returns undefined for if it is not acceptable. `base` describes it
 * for programs that read the contract as JSON Schema.
 */
export function value<T>(
  accepts: string,
  read: (given: unknown) => T | undefined,
  base: Base = z.unknown(),
): Input<T> {
  const transform = z.transform((given, context) => {
    const result = read(given)
    if (result !== undefined) return result
    context.issues.push({ code: 'custom', input: given, message: accepts })
    return z.NEVER
  })
  return z.pipe(base, transform) as Input<T>
}

/** Inputs by field name. */
export type Shape = Readonly<Record<string, Input<unknown>>>

/** The type of a checked input. */
export type Given<I> = I extends Input<infer T> ? T : never

type Required<S extends Shape> = { readonly [K in keyof S]: Given<S[K]> }
type Optional<S extends Shape> = { readonly [K in keyof S]?: Given<S[K]> }

/** Required fields and optional ones. */
export type Fields<R extends Shape, O extends Shape> = Required<R> & Optional<O>

const knownKeys = new WeakMap<Input<unknown>, readonly string[]>()

/** An object with these fields and no others; all are optional. */
export function options<const S extends Shape>(shape: S): Input<Optional<S>> {
  return fields({}, shape)
}

/** An object with these fields and no others; some are required. */
export function fields<const R extends Shape, const O extends Shape>(
  required: R,
  optional: O,
): Input<Fields<R, O>> {
  const optionals = Object.entries(optional).map(
    ([key, input]) => [key, z.optional(input)] as const,
  )
  const object = z.strictObject(
    { ...required, ...Object.fromEntries(optionals) },
    {
      error: ({ code }) =>
        code === 'invalid_type' ? 'an object with options, or nothing' : undefined,
    },
  )
  const made = z.pipe(
    object as z.ZodMiniType<Record<string, unknown>>,
    z.transform(withoutUndefined),
  )
  knownKeys.set(made, [...Object.keys(required), ...Object.keys(optional)])
  return made as Input<Fields<R, O>>
}

/** A list of at most `most` items; `accepts` describes it in messages. */
export function list<T>(accepts: string, item: Input<T>, most = 10_000): Input<readonly T[]> {
  const array = z.array(item, { error: accepts })
  return array.check(z.refine((items) => items.length <= most, accepts)) as Input<readonly T[]>
}

export function either<A, B>(accepts: string, a: Input<A>, b: Input<B>): Input<A | B> {
  return z.union([a, b], { error: accepts }) as Input<A | B>
}

export function orNull<T>(accepts: string, input: Input<T>): Input<T | null> {
  return either(`${accepts}, or null`, input, z.null())
}
