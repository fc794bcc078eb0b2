import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { bytesToText, textToBytes } from '../../../src/agent/files/byte-text.ts'

describe('names and arguments', () => {
  test('of any bytes go in and out unchanged', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        expect(textToBytes(bytesToText(Buffer.from(bytes)))).toEqual(Buffer.from(bytes))
      }),
    )
  })

  test('that are UTF-8 are readable', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(bytesToText(Buffer.from(text))).toBe(text)
        expect(bytesToText(textToBytes(text))).toBe(text)
      }),
    )
  })

  test('that are partly UTF-8 keep the readable part readable', () => {
    const name = Buffer.from([0x63, 0x61, 0x66, 0xe9, 0x2d, 0xc3, 0xa9])
    expect(bytesToText(name)).toBe('caf\udce9-é')
  })
})
