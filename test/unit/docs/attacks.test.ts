import { describe, expect, test } from 'vitest'
import { allPromises } from '../../attacks/catalogue/all.ts'
import { codeWords, readPage, sectionOf } from './markdown.ts'

const page = readPage('docs/security.md')
const names = allPromises.flatMap(({ attacks }) => attacks)

/** The rows of the table as promise and attacks; `x-*` stands for all whose names begin with `x-`. */
function rows(): { promise: string; attacks: string[] }[] {
  const lines = sectionOf(page, 'Promises and attacks').match(/^\| [^|]+\. \| .* \|$/gm) ?? []
  return lines.map((line) => {
    const [, promise = '', attacks = ''] = line
      .split(' | ')
      .flatMap((cell, index) => (index === 0 ? ['', cell.slice(2)] : [cell]))
    return { promise, attacks: codeWords(attacks).flatMap(namesLike) }
  })
}

function namesLike(word: string): string[] {
  if (!word.endsWith('*')) return [word]
  return names.filter((name) => name.startsWith(word.slice(0, -1)))
}

describe('the page on security and the attack suite', () => {
  test('have the same promises, each with the same attacks', () => {
    const sorted = (list: readonly { promise: string; attacks: readonly string[] }[]) =>
      list.map(({ promise, attacks }) => [promise, [...attacks].sort()]).sort()
    expect(sorted(rows())).toEqual(sorted(allPromises))
  })

  test('an attack has one name, and tests one promise', () => {
    expect(names.length).toBe(new Set(names).size)
  })
})
