import { expect, test } from 'vitest'
import { kernelLimits } from '../../../src/backends/native/cell/kernel-limits.ts'
import { noticingPrograms } from '../../undisturbed/catalogue/all.ts'
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

test('the page on limitations lists what a program can still notice of a snapshot', () => {
  const section = sectionOf(readPage('docs/limitations.md'), 'What a snapshot shows inside')
  const listed = Array.from(
    section.matchAll(/^\| (?!what)([^-].*) \| (.*) \|$/gm),
    ([, ...row]) => row,
  )
  expect(listed).toEqual(noticingPrograms.map(({ watches, why }) => [watches, why]))
})
