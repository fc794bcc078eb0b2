import fc from 'fast-check'

/** Nested so deeply that recursion runs out of stack. */
export function deepValue(): unknown {
  let value: unknown = 1
  for (let i = 0; i < 100_000; i += 1) value = [value]
  return value
}

function cycle(): unknown {
  const value: Record<string, unknown> = { a: 1 }
  value.self = value
  return value
}

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}

const throwing = {
  get name(): string {
    throw new RangeError('a getter that throws')
  },
  get settings(): string {
    throw new RangeError('a getter that throws')
  },
}

const untold = Object.assign(Object.create(null), {
  toString: () => {
    throw new TypeError('a value without a text form')
  },
  toJSON: () => {
    throw new TypeError('a value without a JSON form')
  },
})

/** Values that nobody means, but programs still pass. */
export const oddValues: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -0,
  -1,
  0.5,
  Number.POSITIVE_INFINITY,
  Number.NEGATIVE_INFINITY,
  Number.NaN,
  2 ** 53,
  2 ** 31,
  1e308,
  '',
  ' ',
  '\0',
  'a\0b',
  '../..',
  '-1',
  '1e309',
  '80x',
  '__proto__',
  'constructor',
  '\ud800',
  'x'.repeat(100_000),
  '\u202e',
  '\u001b[2J',
  'ééé',
  '${HOME}',
  '$(reboot)',
  5n,
  Symbol('odd'),
  () => 1,
  class {},
  /x/,
  new Date(Number.NaN),
  new Map(),
  new Set([1]),
  [],
  [null],
  [[]],
  {},
  { id: null },
  { id: 5 },
  { kind: 'host' },
  { kind: 5 },
  { length: -1 },
  new Error('x'),
  Buffer.from('x'),
  new Uint8Array(3),
  Promise.resolve(1),
  globalThis.process,
  JSON.parse('{"__proto__": {"count": 3}}'),
  new AbortController().signal,
  new Proxy([], {}),
  cycle(),
  deepValue(),
  revoked(),
  throwing,
  untold,
  Object.freeze({ unknown: 1 }),
]

/** `value` with another option, as far as it can have one. */
export function alsoWith(value: unknown, extra: object): never {
  try {
    return { ...Object(value), ...extra } as never
  } catch {
    return value as never
  }
}

/** fast-check itself cannot look at such a thing. */
function isRevoked(value: unknown): boolean {
  try {
    return typeof value === 'object' && value !== null && Object.keys(value).length < 0
  } catch {
    return true
  }
}

/** Any value at all, including odd ones. */
export const anyValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(...oddValues.filter((value) => !isRevoked(value))),
  fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withSparseArray: true,
    withNullPrototype: true,
    withTypedArray: true,
    maxDepth: 3,
  }),
)
