declare const brand: unique symbol
type Id<Kind extends string> = string & { readonly [brand]: Kind }

export type EnvironmentId = Id<'environment'>
export type SnapshotId = Id<'snapshot'>
export type OperationId = Id<'operation'>

// An id is one letter for its kind and 55 random bits. Letters that read like digits or like each
// other (i, l, o, u) are left out, so that people can read an id aloud and type it again.
const alphabet = '0123456789abcdefghjkmnpqrstvwxyz'
const randomLength = 11
const shape = new RegExp(`^[eso][${alphabet}]{${randomLength}}$`)

/** Fewer characters never count as a shortened id: `rm e` must not remove the only environment. */
export const shortestIdPrefix = 4

export function newEnvironmentId(): EnvironmentId {
  return newId('e') as EnvironmentId
}

export function newSnapshotId(): SnapshotId {
  return newId('s') as SnapshotId
}

export function newOperationId(): OperationId {
  return newId('o') as OperationId
}

export function isEnvironmentId(value: unknown): value is EnvironmentId {
  return isId('e', value)
}

export function isSnapshotId(value: unknown): value is SnapshotId {
  return isId('s', value)
}

/** Whether a user could mean this as the beginning of an environment's or snapshot's id. */
export function isIdPrefix(kind: 'e' | 's', value: string): boolean {
  const inRange = value.length >= shortestIdPrefix && value.length <= 1 + randomLength
  return inRange && shape.test(kind + value.slice(1).padEnd(randomLength, '0')) && value[0] === kind
}

/** Names may not have this shape, in either case, so that a reference is never ambiguous. */
export function looksLikeId(value: string): boolean {
  return shape.test(value.toLowerCase())
}

function newId(kind: 'e' | 's' | 'o'): string {
  let id: string = kind
  // 256 is a multiple of 32, so taking five bits of each byte keeps every character equally likely.
  for (const byte of crypto.getRandomValues(new Uint8Array(randomLength))) {
    id += alphabet.charAt(byte & 31)
  }
  return id
}

function isId(kind: 'e' | 's', value: unknown): boolean {
  return typeof value === 'string' && value.startsWith(kind) && shape.test(value)
}
