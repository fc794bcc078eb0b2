import { InvalidInputError } from '../errors.ts'
import { quote } from './quote.ts'

const typedArray = Object.getPrototypeOf(Uint8Array.prototype)
const kindOf = Object.getOwnPropertyDescriptor(typedArray, Symbol.toStringTag)?.get

/** Unlike instanceof, this runs no code of the caller, whatever the value is. */
function isUint8Array(given: unknown): given is Uint8Array {
  return kindOf?.call(given) === 'Uint8Array'
}

/** Text or bytes as they are sent; undefined if it is neither. */
export function bytesOrText(given: unknown): Buffer | string | undefined {
  if (typeof given === 'string') return given
  if (!isUint8Array(given)) return undefined
  return Buffer.from(given.buffer, given.byteOffset, given.byteLength)
}

export function toBytes(given: unknown): Buffer {
  const data = bytesOrText(given)
  if (data !== undefined) return Buffer.from(data)
  throw new InvalidInputError(`neither text nor bytes: ${quote(given)}`, {
    remedy: 'give a string, a Buffer or a Uint8Array',
  })
}
