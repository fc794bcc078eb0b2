import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { tarOf } from '../../../src/backends/containers/lives/tar.ts'

test('tar itself reads the archive', () => {
  const files = [0, 1, 511, 512, 513].map((bytes) => ({
    name: `file-${bytes}`,
    mode: bytes === 1 ? 0o755 : 0o644,
    content: Buffer.alloc(bytes, 'x'),
  }))
  const archive = tarOf(files)
  const listed = execFileSync('tar', ['-tvf', '-'], { input: archive, encoding: 'utf8' })
  const rows = listed
    .trim()
    .split('\n')
    .map((row) => row.split(/\s+/))
  expect(rows.map(([mode, owner, size, , , name]) => [mode, owner, size, name])).toEqual(
    files.map(({ name, mode, content }) => [
      mode === 0o755 ? '-rwxr-xr-x' : '-rw-r--r--',
      '0/0',
      String(content.length),
      name,
    ]),
  )
  const content = execFileSync('tar', ['-xOf', '-', 'file-513'], { input: archive })
  expect(content.equals(Buffer.alloc(513, 'x'))).toBe(true)
})
