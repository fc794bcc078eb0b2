// The full zod costs every command 12 to 30 ms at start, this one 3 (measured, bundled).
import * as z from 'zod/mini'
import { closest } from '../../model/closest.ts'
import { ForkpointError, InvalidInputError } from '../../model/errors.ts'
import { quote } from '../../model/quote.ts'

/** What a caller may give, whatever the compiler was told; its messages say what it accepts. */
export type Input<T> = z.ZodMiniType<T, unknown>

/**
 * What a caller gave, as a copy that cannot change any more; `what` names it in the message. Nothing
 * that a caller hands over is used before it came through here.
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
    // A getter or a proxy of the caller's.
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
      meant.length > 0 ? `did you mean ${meant.join(' or ')}?` : `there are ${keys.join(', ')}`,
    detail: { option: key },
  })
}

function valueAt(given: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (value as Record<PropertyKey, unknown> | null | undefined)?.[key],
    given,
  )
}

/** A value that `read` returns as it is to be used, or undefined where it is not acceptable. */
export function value<T>(accepts: string, read: (given: unknown) => T | undefined): Input<T> {
  const transform = z.transform((given, context) => {
    const result = read(given)
    if (result !== undefined) return result
    context.issues.push({ code: 'custom', input: given, message: accepts })
    return z.NEVER
  })
  return z.pipe(z.unknown(), transform) as Input<T>
}

type Shape<T> = { readonly [K in keyof T]-?: Input<Exclude<T[K], undefined>> }

const knownKeys = new WeakMap<Input<unknown>, readonly string[]>()

/** An object with these options, each of which may be left out, and no others. */
export function options<T extends object>(shape: Shape<T>): Input<T> {
  const entries = Object.entries<Input<unknown>>(shape)
  const fields = Object.fromEntries(entries.map(([key, input]) => [key, z.optional(input)]))
  const object = z.strictObject(fields, {
    error: ({ code }) =>
      code === 'invalid_type' ? 'an object with options, or nothing' : undefined,
  })
  const made = z.pipe(object, z.transform(withoutUndefined)) as Input<T>
  knownKeys.set(made, Object.keys(shape))
  return made
}

/** An option that is given as undefined is left out: it must not hide a default. */
function withoutUndefined(object: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(object).filter(([, given]) => given !== undefined))
}

/** At most so many; `accepts` says of what. */
export function list<T>(accepts: string, item: Input<T>, most = 10_000): Input<readonly T[]> {
  const array = z.array(item, { error: accepts })
  return array.check(z.refine((items) => items.length <= most, accepts)) as Input<readonly T[]>
}

export function either<A, B>(accepts: string, a: Input<A>, b: Input<B>): Input<A | B> {
  return z.union([a, b], { error: accepts }) as Input<A | B>
}
