import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeFields, encodeFields, type Fields, need } from '../../../src/agent/wire/fields.ts'
import { BackendError, InvalidInputError } from '../../../src/model/errors.ts'

const text = fc.string({ unit: 'grapheme', maxLength: 40 }).filter((s) => !s.includes('\0'))
const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })

const fieldSets = fc.record(
  {
    version: fc.maxSafeInteger(),
    op: fc.integer(),
    path: text,
    message: text,
    argv: fc.array(text, { minLength: 1, maxLength: 6 }),
    env: fc.array(text, { minLength: 1, maxLength: 6 }),
    mtimeNs: int64,
    size: fc.maxSafeNat(),
  },
  { requiredKeys: [] },
) satisfies fc.Arbitrary<Fields>

function raw(key: number, bytes: Buffer, claimed: number = bytes.length): Buffer {
  const prefix = Buffer.alloc(6)
  prefix.writeUInt16LE(key, 0)
  prefix.writeUInt32LE(claimed, 2)
  return Buffer.concat([prefix, bytes])
}

function int(value: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64LE(value)
  return bytes
}

describe('fields', () => {
  test('are decoded as they were encoded', () => {
    fc.assert(
      fc.property(fieldSets, (fields) => {
        expect(decodeFields(encodeFields(fields))).toEqual(fields)
      }),
    )
  })

  test('that are unknown are ignored, so that both sides can grow', () => {
    const bytes = Buffer.concat([raw(9999, Buffer.from('new')), encodeFields({ id: 'a' })])
    expect(decodeFields(bytes)).toEqual({ id: 'a' })
  })

  test('that are undefined are not sent', () => {
    expect(encodeFields({ cwd: undefined })).toHaveLength(0)
  })

  test('made of garbage decode or end in a protocol error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        try {
          decodeFields(Buffer.from(bytes))
        } catch (error) {
          expect(error).toBeInstanceOf(BackendError)
        }
      }),
    )
  })

  test.each([
    ['cut off', Buffer.from([1, 0, 8])],
    ['longer than the payload', raw(1, int(1n), 0xffff_ffff)],
    ['a number of four bytes', raw(1, Buffer.alloc(4))],
    ['a number too large to be exact', raw(33, int(2n ** 60n))],
    ['text with a NUL', raw(30, Buffer.from('/a\0b'))],
    ['there twice', Buffer.concat([raw(30, Buffer.from('/a')), raw(30, Buffer.from('/b'))])],
  ])('from the agent that are %s are a protocol error', (_, bytes) => {
    expect(() => decodeFields(bytes)).toThrow(/broke the protocol/)
  })

  test('given by the caller are checked before they are sent', () => {
    expect(() => encodeFields({ path: '/a\0b' })).toThrow(InvalidInputError)
    expect(() => encodeFields({ size: 1.5 })).toThrow(InvalidInputError)
    expect(() => encodeFields({ mtimeNs: 2n ** 63n })).toThrow(InvalidInputError)
  })

  test('that an answer lacks are a protocol error', () => {
    expect(() => need({}, 'exitCode')).toThrow(/exitCode is missing/)
    expect(need({ exitCode: 0 }, 'exitCode')).toBe(0)
  })
})
