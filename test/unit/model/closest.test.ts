import fc from 'fast-check'
import { expect, test } from 'vitest'
import { closest } from '../../../src/model/text/closest.ts'

const names = ['limits.memory', 'limits.cpus', 'net.mode', 'home']

test.each([
  ['limits.memroy', ['limits.memory']],
  ['limit.memory', ['limits.memory']],
  ['HOME', ['home']],
  ['hme', ['home']],
  ['something-else', []],
  ['', []],
])('for %j the suggestions are %j', (word, expected) => {
  expect(closest(word, names)).toEqual(expected)
})

test('a word with one typo is always recognized', () => {
  const word = fc.string({ unit: fc.constantFrom(...'abcdef-'), minLength: 4, maxLength: 30 })
  fc.assert(
    fc.property(word, fc.nat(), fc.constantFrom('x', ''), (right, seed, replacement) => {
      const at = seed % right.length
      const slipped = right.slice(0, at) + replacement + right.slice(at + 1)
      expect(closest(slipped, [right, 'QQQQQQQQ'])).toEqual([right])
    }),
  )
})
