import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type Page, readPage, readPages, root } from './markdown.ts'

const pages = [...readPages(), readPage('CONTRIBUTING.md'), readPage('SECURITY.md')]

/** Words that name a file or folder of this repository; names in capitals stand for any. */
function placesIn({ text }: Page): string[] {
  const words = text.matchAll(/(?<![\w./-])(?:src|native|test|scripts|docs|examples)\/[\w./*-]*/g)
  const places = Array.from(words, ([word]) => word.replace(/[.,:]+$/, ''))
  return [...new Set(places)].filter((place) => !/\*|\/[A-Z]+$/.test(place))
}

describe('a file or folder that the documentation names exists', () => {
  test.each(pages.map((page) => [page.path, page] as const))('in %s', (_path, page) => {
    const missing = placesIn(page).filter((place) => !existsSync(join(root, place)))
    expect(missing).toEqual([])
  })

  test('and the page on the architecture names those that an operation passes', () => {
    expect(placesIn(readPage('docs/architecture.md')).length).toBeGreaterThan(30)
  })
})
