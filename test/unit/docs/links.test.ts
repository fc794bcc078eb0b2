import { existsSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { describe, expect, test } from 'vitest'
import { anchorsOf, linksOf, readPage, readPages, root } from './markdown.ts'

const pages = readPages()

/** What is wrong with a link within the repository; undefined if nothing is. */
function problemOf(from: string, link: string): string | undefined {
  const [file = '', anchor] = link.split('#')
  const target = file === '' ? from : relative(root, join(root, dirname(from), file))
  if (!existsSync(join(root, target))) return `${link}: no such file`
  if (anchor === undefined) return undefined
  return anchorsOf(readPage(target)).has(anchor) ? undefined : `${link}: no such heading`
}

describe('the documentation', () => {
  test.each(pages.map(({ path }) => path))('has no dead link in %s', (path) => {
    const inside = linksOf(readPage(path)).filter((link) => !/^[a-z]+:/.test(link))
    const problems = inside.map((link) => problemOf(path, link)).filter(Boolean)
    expect(problems).toEqual([])
  })

  test('has every page in the table of the README', () => {
    const linked = new Set(linksOf(readPage('README.md')))
    const docs = pages.map(({ path }) => path).filter((path) => path.startsWith('docs/'))
    expect(docs.filter((path) => !linked.has(path))).toEqual([])
  })
})
