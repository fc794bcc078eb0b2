import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { hotspotPath, libraryPath, programPath } from '../../../support/real-programs.ts'
import { elfAt } from './read-host-file.ts'

function importsSeenByNm(path: string): string[] {
  const text = execFileSync('nm', ['-D', '--undefined-only', path], { encoding: 'utf8' })
  const names = text.split('\n').map((line) => line.trim().split(' ').at(-1)?.split('@')[0] ?? '')
  return names.filter((name) => name.length > 0 && name.length < 64)
}

const files = {
  bash: () => programPath('bash'),
  python: () => programPath('python3'),
  node: () => programPath('node'),
  libc: () => libraryPath('libc.so.6'),
  jemalloc: () => libraryPath('libjemalloc.so.2'),
  hotspot: hotspotPath,
}

test.each(Object.entries(files))('reads the imports of %s as nm does', async (_, pathOf) => {
  const { imports, linkage } = await elfAt(pathOf())
  expect(linkage).toBe('dynamic')
  expect([...imports].filter((name) => name.length < 64)).toEqual(
    expect.arrayContaining(importsSeenByNm(pathOf())),
  )
  expect(imports.size).toBeGreaterThan(10)
})

test('knows what the C library defines', async () => {
  const { defines, imports, sections } = await elfAt(libraryPath('libc.so.6'))
  expect(defines).toContain('madvise')
  expect(imports).not.toContain('madvise')
  expect(sections).toContain('.rodata')
})

test('a Go program is static, and carries its build information', async () => {
  const { linkage, sections } = await elfAt(programPath('gofmt'))
  expect(linkage).toBe('static')
  expect(sections).toContain('.go.buildinfo')
})
