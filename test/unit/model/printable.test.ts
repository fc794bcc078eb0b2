import fc from 'fast-check'
import { expect, test } from 'vitest'
import { styledLines } from '../../../src/cli/render/layout/text.ts'
import { escapeHidden, isPrintable, printable } from '../../../src/model/text/printable.ts'
import { quote } from '../../../src/model/text/quote.ts'
import { deepValue, oddValues } from '../../support/hostile-values.ts'

const anyText = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }))
/** Control characters and those that reverse text, according to Unicode. */
const forbidden = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Cs}]/u

test('nothing that controls a terminal or reverses text is left', () => {
  for (let point = 0; point <= 0x10ffff; point += 1) {
    const character = String.fromCodePoint(point)
    if (forbidden.test(character)) expect(printable(character), point.toString(16)).toBe('\ufffd')
  }
})

test('ordinary text stays as it is, in every language', () => {
  for (const text of [
    'plain',
    'é ü ß',
    'עברית',
    'العربية',
    '日本語',
    '👩‍👩‍👧‍👦',
    'नमस्ते',
    '→ ● ▸ …',
  ]) {
    expect(printable(text)).toBe(text)
    expect(isPrintable(text)).toBe(true)
  }
})

test('text that was made printable is printable, and has the same length', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      expect(isPrintable(printable(text))).toBe(true)
      expect([...printable(text)]).toHaveLength([...text].length)
      expect(isPrintable(text)).toBe(printable(text) === text)
    }),
  )
})

test('JSON reads the same with escapes, and is printable', () => {
  fc.assert(
    fc.property(fc.jsonValue(), anyText, (value, text) => {
      const json = JSON.stringify({ [text]: [value, text] }, null, 2)
      expect(JSON.parse(escapeHidden(json))).toEqual(JSON.parse(json))
      expect(isPrintable(escapeHidden(json).replaceAll('\n', ''))).toBe(true)
    }),
  )
})

test('of rendered text, only lines, tabs and colours pass', () => {
  expect(styledLines('a\tb\n\u001b[31mred\u001b[39m')).toBe('a\tb\n\u001b[31mred\u001b[39m')
  expect(styledLines('\u001b[2J\u001b]52;c;eA==\u0007\r\u009b31m')).not.toMatch(forbidden)
})

test('any value can be quoted in a message, in a line of bounded length', () => {
  for (const value of [...oddValues, deepValue(), 'x'.repeat(10_000_000)]) {
    const quoted = quote(value)
    expect(quoted.length).toBeLessThan(100)
    expect(quoted).not.toMatch(forbidden)
  }
})
