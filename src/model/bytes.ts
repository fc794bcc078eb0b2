import { types } from 'node:util'
import { InvalidInputError } from './errors.ts'
import { quote } from './quote.ts'

/** Text or bytes as they are sent; undefined if it is neither. */
export function bytesOrText(given: unknown): Buffer | string | undefined {
  if (typeof given === 'string') return given
  // This way nothing of the caller's runs, whatever it is.
  if (!types.isUint8Array(given)) return undefined
  return Buffer.from(given.buffer, given.byteOffset, given.byteLength)
}

export function toBytes(given: unknown): Buffer {
  const data = bytesOrText(given)
  if (data !== undefined) return Buffer.from(data)
  throw new InvalidInputError(`neither text nor bytes: ${quote(given)}`, {
    remedy: 'give a string, a Buffer or a Uint8Array',
  })
}
