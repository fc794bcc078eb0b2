import fc from 'fast-check'
import { expect, test } from 'vitest'
import { decodeImage, encodeImage } from '../../../../src/criu/images/format/image-file.ts'
import { change, make, read, schema } from '../../../../src/criu/images/format/schema.ts'

const numbers = schema({
  small: [1, 'uint32'],
  wide: [2, 'uint64'],
  signed: [3, 'sint32'],
  wideSigned: [4, 'int64', 'optional'],
  flag: [5, 'bool', 'optional'],
  name: [6, 'string'],
  list: [7, 'uint32', 'repeated'],
  inner: [8, 'message', 'optional'],
  inners: [9, 'message', 'repeated'],
})
const few = schema({ signed: [3, 'sint32'], list: [7, 'uint32', 'repeated'] })

const uint32 = fc.nat({ max: 0xffff_ffff })
const bytes = fc.uint8Array({ maxLength: 8 })
const contents = fc.record({
  small: uint32,
  wide: fc.maxSafeNat(),
  signed: fc.integer(),
  wideSigned: fc.option(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), { nil: undefined }),
  flag: fc.option(fc.boolean(), { nil: undefined }),
  name: fc.string({ unit: 'grapheme' }),
  list: fc.array(uint32),
  inner: fc.option(bytes, { nil: undefined }),
  inners: fc.array(bytes),
})

test('what was written can be read', () => {
  fc.assert(
    fc.property(contents, (values) => {
      expect(read(numbers, make(numbers, values))).toEqual({ ...values, unknownFields: 0 })
    }),
  )
})

test('a change leaves every other field alone, whether it is known or not', () => {
  fc.assert(
    fc.property(contents, fc.integer(), fc.array(uint32), (values, signed, list) => {
      const message = make(numbers, values)
      const changed = change(few, message, { signed, list })
      expect(read(numbers, changed)).toEqual({ ...values, signed, list, unknownFields: 0 })
      expect(change(few, message, {})).toEqual(message)
      expect(change(few, changed, { signed: values.signed, list: values.list })).toEqual(
        list.length > 0 || values.list.length === 0 ? message : expect.anything(),
      )
    }),
  )
})

test('a message that could not be written leaves nothing for the next one', () => {
  const after = () => read(numbers, make(numbers, { name: 'next' })).small
  expect(() => make(numbers, { small: 7, signed: 2 ** 40 })).toThrow('invalid int32')
  expect(after()).toBe(0)
  const whole = make(numbers, { small: 7, name: 'broken' })
  expect(() => change(numbers, whole.subarray(0, -2), { small: 8 })).toThrow('premature EOF')
  expect(after()).toBe(0)
})

test('fields that are not in a schema are counted', () => {
  const message = make(numbers, { small: 1, signed: -1, list: [1, 2], inners: [Uint8Array.of(1)] })
  expect(read(few, message)).toEqual({ signed: -1, list: [1, 2], unknownFields: 2 })
})

test('a packed list is read, too', () => {
  const packed = Buffer.from('3a0301ac02', 'hex')
  expect(read(few, packed).list).toEqual([1, 300])
})

test('missing fields are zero, undefined or empty', () => {
  const empty = read(numbers, Buffer.alloc(0))
  expect(empty).toMatchObject({ small: 0, wide: 0, name: '', list: [], inners: [] })
  expect([empty.wideSigned, empty.flag, empty.inner]).toEqual([undefined, undefined, undefined])
})

test('the address of the last page is exact', () => {
  const address = schema({ at: [1, 'uint64'] })
  const message = Uint8Array.from(Buffer.from('08808080fbffffffffff01', 'hex'))
  expect(read(address, message).at).toBe(0xffff_ffff_ff60_0000)
  expect(make(address, { at: 0xffff_ffff_ff60_0000 })).toEqual(message)
})

test('an image is the same after decoding and encoding', () => {
  fc.assert(
    fc.property(fc.array(bytes), (entries) => {
      const image = encodeImage({ head: Buffer.from('1943565420284957', 'hex'), entries })
      expect(decodeImage(image).entries.map((entry) => Uint8Array.from(entry))).toEqual(entries)
      expect(encodeImage(decodeImage(image))).toEqual(image)
    }),
  )
})

test.each([
  ['half a magic word', '1943', /has 2 bytes/],
  ['half a length', '19435654202849570500', /at byte 8 ends beyond/],
  ['half an entry', '194356542028495705000000aaaa', /at byte 8 ends beyond its 14 bytes/],
])('%s is refused', (_, hex, reason) => {
  expect(() => decodeImage(Buffer.from(hex, 'hex'))).toThrow(reason)
})
