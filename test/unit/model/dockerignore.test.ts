import { describe, expect, test } from 'vitest'
import { InvalidInputError } from '../../../src/model/errors.ts'
import { readIgnored } from '../../../src/model/files/dockerignore.ts'

const cases: readonly [rules: string, path: string, ignored: boolean][] = [
  ['', 'a', false],
  ['# a', 'a', false],
  ['a', 'a', true],
  ['a', 'a/b/c', true],
  ['a', 'b/a', false],
  ['/a/', 'a', true],
  ['*.tmp', 'x.tmp', true],
  ['*.tmp', 'd/x.tmp', false],
  ['**/*.tmp', 'x.tmp', true],
  ['**/*.tmp', 'd/e/x.tmp', true],
  ['a/**', 'a/b/c', true],
  ['a/**', 'a', false],
  ['?.c', 'x.c', true],
  ['?.c', 'xy.c', false],
  ['[ab].c', 'a.c', true],
  ['[^a].c', 'a.c', false],
  ['a.c', 'abc', false],
  ['a+(b', 'a+(b', true],
  ['*\n!kept', 'kept', false],
  ['*\n!kept', 'other', true],
  ['d\n!d/kept', 'd/kept', false],
  ['!a\na', 'a', true],
  ['.', 'anything/at/all', true],
  ['a\\*', 'a*', true],
  ['a\\*', 'ab', false],
  ['secret.txt', 'below/secret.txt', false],
  ['**/secret.txt', 'deep/below/secret.txt', true],
  ['build', 'build/out/file', true],
  ['/build/', 'build/file', true],
  ['build', 'builder', false],
  ['*.md', 'docs/a.md', false],
  ['a.b', 'axb', false],
  ['# comment\n\n', '# comment', false],
  ['(a+)+$', 'aaaa', false],
]

describe('.dockerignore', () => {
  test.each(cases)('%j and %s: %s', (rules, path, ignored) => {
    expect(readIgnored(rules).ignores(path)).toBe(ignored)
  })

  test('refuses a range that is none', () => {
    expect(() => readIgnored('[z-a]')).toThrow(InvalidInputError)
  })

  test('says whether something below an ignored directory may count', () => {
    expect(readIgnored('a\nb').hasExceptions).toBe(false)
    expect(readIgnored('a\n!a/b').hasExceptions).toBe(true)
  })
})
