import { expect, test } from 'vitest'
import { kernelLimits } from '../../../src/backends/native/cell/kernel-limits.ts'
import { readPage, sectionOf } from './markdown.ts'

test('the page on limitations lists the settings of the kernel that are raised', () => {
  const section = sectionOf(readPage('docs/limitations.md'), 'Settings of the kernel')
  const listed = Array.from(section.matchAll(/^\| `(\S+)` \| (\d+) \|/gm), ([, name, to]) => [
    name,
    to,
  ])
  expect(listed).toEqual(
    kernelLimits.map(({ name, enough }) => [name.replaceAll('/', '.'), String(enough)]),
  )
})
