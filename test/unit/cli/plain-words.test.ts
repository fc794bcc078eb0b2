import { expect, test } from 'vitest'
import { type PlainOptions, plainWords } from '../../../src/cli/quick/branch/plain-words.ts'

const options: PlainOptions = {
  words: 1,
  values: { '-n': 'count', '--count': 'count', '--name': 'name' },
  flags: { '-q': 'quiet', '--json': 'json' },
}

test('words, values and flags may come in any order', () => {
  const plain = plainWords(['-q', '--name', 'try', 'ready', '-n', '1', '--count', '2'], options)
  expect(plain).toEqual({
    words: ['ready'],
    values: new Map([
      ['name', 'try'],
      ['count', '2'],
    ]),
    flags: new Set(['quiet']),
  })
})

test.each([
  [[]],
  [['ready', 'other']],
  [['']],
  [['ready', '--name']],
  [['ready', '--name', '']],
  [['ready', '--name', '-q']],
  [['ready', '--name=try']],
  [['ready', '-n2']],
  [['ready', '-qn', '2']],
  [['ready', '--atomic']],
  [['ready', '--', '-q']],
  [['ready', '--help']],
  [['toString', '--toString']],
])('%j is left to the whole command line', (given) => {
  expect(plainWords(given, options)).toBe(null)
})
