import { chmodSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { changesSince, copiedSource } from '../../../src/api/host/apply/copied-source.ts'
import { asInside, noteOf, readNote } from '../../../src/api/host/apply/copied-tree.ts'
import { TargetDirectory } from '../../../src/api/host/apply/target-directory.ts'
import type { InsideEntry } from '../../../src/model/files/file-change.ts'
import { TemporaryDirectory } from '../../support/temporary-directory.ts'

function project(): TemporaryDirectory {
  const directory = new TemporaryDirectory()
  mkdirSync(directory.file('src'))
  writeFileSync(directory.file('src/a.txt'), 'a\n')
  writeFileSync(directory.file('b.txt'), 'b\n')
  symlinkSync('b.txt', directory.file('link'))
  return directory
}

function copiedFrom(host: string) {
  const tree = readNote(noteOf(host) ?? '', host)
  if (tree === null) throw new Error('it was noted here')
  return tree
}

/** What is inside right after the copy. */
function insideOf(host: string): InsideEntry[] {
  return copiedFrom(host).entries.map((entry) => ({
    ...asInside(entry),
    path: entry.path === '' ? '/app' : `/app/${entry.path}`,
  }))
}

test('nothing has changed right after the copy; then every kind of change is found', () => {
  using directory = project()
  const entries = copiedFrom(directory.path).entries
  const copied = new Map(entries.map((e) => [e.path === '' ? '/app' : `/app/${e.path}`, e]))
  const inside = insideOf(directory.path)
  expect(changesSince('/app', copied, inside).changes).toEqual([])
  const changed = inside
    .filter(({ path }) => path !== '/app/b.txt')
    .map((entry) => {
      if (entry.path === '/app/src/a.txt') return { ...entry, mtimeMs: entry.mtimeMs + 1 }
      return entry.path === '/app/link' ? { ...entry, target: 'src' } : entry
    })
  const socket = { ...inside[0], path: '/app/socket', type: 'socket' } as InsideEntry
  const added = { ...inside[0], path: '/app/new' } as InsideEntry
  const { changes, leftOut } = changesSince('/app', copied, [...changed, added, socket])
  expect(changes.map(({ path, kind }) => `${kind} ${path}`)).toEqual([
    'deleted /app/b.txt',
    'modified /app/link',
    'added /app/new',
    'modified /app/src/a.txt',
  ])
  expect(leftOut).toEqual(['/app/socket'])
})

test('a file of the host that was touched since the copy is not taken for the one that was copied', async () => {
  using directory = project()
  const tree = copiedFrom(directory.path)
  const none = async () => ({ before: [], after: [] })
  const source = copiedSource('/app', tree, {
    entries: async () => [],
    digests: none,
    archive: () => Promise.reject(new Error('nothing is copied here')),
  })
  await using target = await TargetDirectory.open(directory.path)
  const before = async () =>
    (await source.digests({ before: ['/app/b.txt', '/app/src/a.txt'], after: [] }, target)).before
  expect(await before()).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/), expect.any(String)])
  // The same size and the same time, but not the same file.
  const { mtimeNs } = tree.entries.find(({ path }) => path === 'b.txt') ?? { mtimeNs: '0' }
  writeFileSync(directory.file('b.txt'), 'c\n')
  const seconds = Number(BigInt(mtimeNs) / 1000n) / 1e6
  utimesSync(directory.file('b.txt'), seconds, seconds)
  chmodSync(directory.file('src/a.txt'), 0o600)
  expect(await before()).toEqual([null, null])
  rmSync(directory.file('b.txt'))
  expect(await before()).toEqual([null, null])
})

test('a note is only read for the directory that it is of', () => {
  using directory = project()
  expect(readNote(noteOf(directory.path) ?? '', '/elsewhere')).toBe(null)
  expect(noteOf(directory.file('b.txt'))).toBe(null)
  expect(noteOf(directory.file('missing'))).toBe(null)
})
