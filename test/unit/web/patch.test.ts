import { createTwoFilesPatch } from 'diff'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { changeTree, type FileChange } from '../../../web/src/inspect/changes/change-tree.ts'
import { type Hunk, parsePatch, sideBySide } from '../../../web/src/inspect/changes/patch.ts'

const files = fc.array(fc.constantFrom('one', 'two', '', '+three', '-four', ' five'), {
  maxLength: 40,
})

function hunksOf(before: readonly string[], after: readonly string[]): readonly Hunk[] {
  const text = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('')
  const parsed = parsePatch(createTwoFilesPatch('a', 'b', text(before), text(after)))
  return parsed.kind === 'text' ? parsed.hunks : []
}

test('each line of a patch is that of the file, with its number', () => {
  fc.assert(
    fc.property(files, files, (before, after) => {
      for (const { lines } of hunksOf(before, after)) {
        for (const line of lines) {
          if (line.before !== null) expect(before[line.before - 1]).toBe(line.text)
          if (line.after !== null) expect(after[line.after - 1]).toBe(line.text)
        }
      }
    }),
  )
})

test('side by side has every line once, and in order', () => {
  fc.assert(
    fc.property(files, files, (before, after) => {
      for (const hunk of hunksOf(before, after)) {
        const rows = sideBySide(hunk)
        const numbers = (side: 'left' | 'right') =>
          rows.flatMap((row) => (side === 'left' ? row.left?.before : row.right?.after) ?? [])
        const all = (side: 'before' | 'after') => hunk.lines.flatMap((line) => line[side] ?? [])
        expect(numbers('left')).toEqual(all('before'))
        expect(numbers('right')).toEqual(all('after'))
      }
    }),
  )
})

test('a binary file is recognised', () => {
  expect(parsePatch('diff --git a/x b/x\nBinary files a/x and b/x differ\n').kind).toBe('binary')
})

test('directories with nothing else in them are one, and each counts what is below', () => {
  const file = { mode: 0o644, uid: 0, gid: 0, sizeBytes: 1, mtimeMs: 1, type: 'file' } as const
  const added = (path: string): FileChange => ({
    ...{ path, kind: 'added', before: null, after: file, sizeDelta: 1 },
  })
  const tree = changeTree(['/a/b/c/x', '/a/b/c/y', '/a/b/d/z', '/top'].map(added))
  expect(tree.count).toBe(4)
  expect(tree.changes.map(({ path }) => path)).toEqual(['/top'])
  expect(tree.directories.map(({ name, count }) => [name, count])).toEqual([['a/b', 3]])
})

test('a directory that changed itself is there once, with what is in it', () => {
  const file = { mode: 0o644, uid: 0, gid: 0, sizeBytes: 1, mtimeMs: 1, type: 'file' } as const
  const added = (path: string): FileChange => ({
    ...{ path, kind: 'added', before: null, after: file, sizeDelta: 1 },
  })
  const tree = changeTree(['/a/new', '/a/new/x', '/a/y'].map(added))
  const [a] = tree.directories
  expect(a?.changes.map(({ path }) => path)).toEqual(['/a/y'])
  expect(a?.directories.map(({ name, own, count }) => [name, own?.kind, count])).toEqual([
    ['new', 'added', 1],
  ])
})
