import fc from 'fast-check'
import { expect, test } from 'vitest'
import { styledLines } from '../../../src/cli/render/text.ts'
import { escapeHidden, isPrintable, printable } from '../../../src/model/printable.ts'
import { quote } from '../../../src/model/quote.ts'
import { deepValue, oddValues } from '../../support/hostile-values.ts'

const anyText = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }))
/** Controls and what turns text round, by what Unicode says of them. */
const forbidden = /[\p{Cc}\p{Bidi_Control}\p{Zl}\p{Zp}\p{Cs}]/u

test('nothing that steers a terminal or turns text round is left', () => {
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

test('what was made printable is, and has as many characters', () => {
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

test('of what a renderer made, only lines, tabs and colours pass', () => {
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
