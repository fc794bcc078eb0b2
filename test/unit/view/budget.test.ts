import { expect, test } from 'vitest'
import { Budget } from '../../../src/backends/native/overlay/view/budget.ts'
import { renderChanges } from '../../../src/cli/render/changes.ts'
import { plain } from '../../../src/cli/render/layout/style.ts'
import type { FileChange } from '../../../src/model/files/file-change.ts'

test('what a comparison keeps is bounded in entries and in bytes', () => {
  const entries = new Budget('comparing files')
  expect(() => {
    for (let at = 0; at <= 1_000_000; at += 1) entries.spend('/x')
  }).toThrow('comparing files: more than 1000000 entries')
  const bytes = new Budget('comparing files')
  expect(() => {
    for (let at = 0; at < 300; at += 1) bytes.spend('/x'.repeat(250_000))
  }).toThrow('128 MiB of paths')
})

test('a list of 200,000 changes can be shown', () => {
  const after = { type: 'file', mode: 0o644, uid: 0, gid: 0, sizeBytes: 1, mtimeMs: 0 } as const
  const change: FileChange = { path: '/a', kind: 'added', before: null, after, sizeDelta: 1 }
  const all = Array.from({ length: 200_000 }, () => change)
  expect(renderChanges(all, plain).split('\n').length).toBe(200_000)
})
