import { describe, expect, test } from 'vitest'
import { renderChanges, renderStat } from '../../../src/cli/render/changes.ts'
import { plain } from '../../../src/cli/render/layout/style.ts'
import { cutTo } from '../../../src/cli/render/layout/text.ts'
import { pruneTable } from '../../../src/cli/render/prune.ts'
import type { FileChange } from '../../../src/index.ts'

const entry = { type: 'file', mode: 0o644, uid: 0, gid: 0, sizeBytes: 10, mtimeMs: 0 } as const

const changes: FileChange[] = [
  { path: '/a', kind: 'added', before: null, after: entry, sizeDelta: 2048 },
  { path: '/b', from: '/old', kind: 'renamed', before: entry, after: entry, sizeDelta: 0 },
  {
    path: '/dir',
    kind: 'deleted',
    after: null,
    sizeDelta: -4096,
    contents: 3,
    before: { ...entry, type: 'directory' },
  },
  {
    path: '/m\u001b[2J',
    kind: 'mode',
    before: entry,
    sizeDelta: 0,
    after: { ...entry, mode: 0o4755 },
  },
]

describe('changes on the screen', () => {
  test('show what happened, where and how much, and cannot move the cursor', () => {
    expect(renderChanges(changes, plain).split('\n')).toEqual([
      'added     /a         +2 KiB',
      'renamed   /old → /b',
      'deleted   /dir/      -4 KiB, with 3 entries in it',
      'mode      /m\ufffd[2J     0644 → 4755',
    ])
  })

  test('are summed up', () => {
    expect(renderStat(changes, plain)).toBe('1 added, 1 renamed, 1 deleted, 1 mode; -2 KiB')
    expect(renderStat([], plain)).toBe('no difference')
  })
})

test('a plan of prune shows why each one stays', () => {
  const lines = [
    { id: 's1', name: null, reason: null },
    { id: 's2', name: 'gold', reason: { kind: 'named' } },
  ] as const
  expect(pruneTable(lines, (id) => id, plain).split('\n')).toEqual([
    'NAME  ID  DECISION  WHY',
    '-     s1  remove',
    'gold  s2  keep      it has a name',
  ])
})

test('text is cut to the width of the terminal', () => {
  expect(cutTo('abc', 3)).toBe('abc')
  expect(cutTo('abcd', 3)).toBe('ab…')
  expect(cutTo('abcd', 1)).toBe('…')
})
