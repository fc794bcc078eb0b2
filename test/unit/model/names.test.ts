import fc from 'fast-check'
import { expect, test } from 'vitest'
import { InvalidInputError } from '../../../src/model/errors.ts'
import { parseName } from '../../../src/model/values/names.ts'

test.each(['a', '7', 'fix-bug', 'Fix_Bug.2', 'ready-1', 'x'.repeat(63)])('%s is a name', (name) => {
  expect(parseName(name)).toBe(name)
})

test.each([
  '',
  '-rf',
  '.hidden',
  'a/b',
  'a b',
  'a..b',
  '..',
  'a\n',
  'é',
  'a:b',
  'x'.repeat(64),
  null,
  7,
])('%j is refused, with what a name may be', (value) => {
  try {
    parseName(value)
    expect.unreachable()
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidInputError)
    expect((error as InvalidInputError).remedy).toBeTruthy()
  }
})

test('whatever is accepted is one harmless path component', () => {
  const nearNames = fc.string({ unit: fc.constantFrom(...'aZ0._-/ \n\0~$é'), maxLength: 70 })
  fc.assert(
    fc.property(nearNames, (text) => {
      let name: string
      try {
        name = parseName(text)
      } catch (error) {
        expect(error).toBeInstanceOf(InvalidInputError)
        return
      }
      expect(name).toBe(text)
      expect(name).toMatch(/^[\w.-]+$/)
      expect(name.includes('..') || name.startsWith('.') || name.startsWith('-')).toBe(false)
      expect(name.length).toBeLessThanOrEqual(63)
    }),
  )
})
