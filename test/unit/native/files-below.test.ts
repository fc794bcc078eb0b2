import { execFileSync } from 'node:child_process'
import { lstatSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { filesBelow } from '../../../src/linux/files/files-below.ts'
import { TemporaryDirectory } from '../../support/temporary-directory.ts'

const nesting = `
import os, sys
os.chdir(sys.argv[1])
for depth in range(int(sys.argv[2])):
    os.mkdir(sys.argv[3]); open('file', 'w').close(); os.chdir(sys.argv[3])
`

const opened = () => readdirSync('/proc/self/fd').length

test.each([
  ['deeper than the longest path', 100, 'd'.repeat(200)],
  ['deeper than calls can be nested', 1_000, 'd'],
])('finds every file in a tree that is %s', async (_, depth, name) => {
  using dir = new TemporaryDirectory()
  execFileSync('python3', ['-c', nesting, dir.path, String(depth), name])
  const before = opened()
  const inodes = new Set<number>()
  for (const { path, inode } of filesBelow(dir.path)) {
    expect(lstatSync(path).ino).toBe(inode)
    inodes.add(inode)
  }
  expect(inodes.size).toBe(depth)
  for (const _first of filesBelow(dir.path)) break
  expect(opened()).toBe(before)
  execFileSync('rm', ['-rf', dir.path])
})

test('follows no link, and accepts names that are not text', async () => {
  using dir = new TemporaryDirectory()
  mkdirSync(join(dir.path, 'inner'))
  symlinkSync('/etc', join(dir.path, 'inner/link'))
  const odd = Buffer.concat([Buffer.from(`${dir.path}/`), Buffer.from([0xff, 0xfe])])
  writeFileSync(odd, '')
  const found = [...filesBelow(dir.path)].map(({ path }) => path.toString('latin1'))
  expect(found.toSorted()).toEqual([`${dir.path}/inner/link`, odd.toString('latin1')].toSorted())
})
