import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { defaultMask } from '../../../src/config/default-mask.ts'
import { codeWords, readPage, root, sectionOf } from './markdown.ts'

const page = readPage('docs/security.md')
const sourceOf = (name: string) => readFileSync(join(root, 'native/cell', name), 'utf8')

/** What the page writes as `~/x` is masked in /root and in every home. */
function maskOnPage(): string[] {
  const rows = sectionOf(page, 'The mask').match(/^\|.*$/gm) ?? []
  return codeWords(rows.join('\n')).flatMap((path) =>
    path.startsWith('~/') ? [`/root/${path.slice(2)}`, `/home/*/${path.slice(2)}`] : [path],
  )
}

describe('the page on security', () => {
  test('lists the default mask, no more and no less', () => {
    expect(maskOnPage().sort()).toEqual([...defaultMask].sort())
  })

  test('lists the capabilities that root inside keeps', () => {
    const [, kept = ''] =
      /kept_capabilities\[\] = \{([^}]*)\}/.exec(sourceOf('walls/harden.c')) ?? []
    const listed = codeWords(sectionOf(page, 'Capabilities')).filter((word) => /^CAP_/.test(word))
    expect(listed.sort()).toEqual((kept.match(/CAP_\w+/g) ?? []).sort())
  })

  test('lists what is hidden or read-only in /proc', () => {
    const inside = sourceOf('inside.c')
    const masked = Array.from(
      inside.matchAll(/"((?:proc|sys)\/[\w/-]+)"/g),
      ([, path = '']) => `/${path}`,
    )
    const listed = codeWords(sectionOf(page, 'Kernel interfaces')).filter((word) =>
      /\/.*\//.test(word),
    )
    expect(listed.sort()).toEqual(masked.sort())
  })

  test('lists the system calls that the filter refuses, and how', () => {
    const refused = Array.from(
      sourceOf('walls/refused-calls.c').matchAll(/\{SYS_(\w+), (E\w+)\}/g),
      ([, call = '', error = '']) => `${call} ${error}`,
    )
    const listed = Array.from(
      sectionOf(page, 'System calls').matchAll(/^\| `(E\w+)` \| (.*) \|$/gm),
      ([, error = '', calls = '']) => codeWords(calls).map((call) => `${call} ${error}`),
    ).flat()
    expect(listed.sort()).toEqual(refused.sort())
  })
})
