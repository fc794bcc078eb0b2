import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { GitIgnores } from '../../../src/api/host/selection/git-ignores.ts'
import { selecting } from '../../../src/api/host/selection/selection.ts'
import { TemporaryDirectory } from '../../support/temporary-directory.ts'

const ignoreFiles = new Map([
  ['', '*.log\n/build\nnode_modules/\n!keep.log\n# a comment\n'],
  ['src', '!important.log\ngenerated/*\n!generated/kept\n'],
  ['vendor/deep', '*\n!*/\n!.gitignore\n'],
])
const files = [
  'a.log',
  'keep.log',
  'build/out',
  'src/build/out',
  'src/important.log',
  'src/other.log',
  'src/generated/gone',
  'src/generated/kept',
  'lib/node_modules/x/index.js',
  'lib/node_modules.txt',
  'vendor/deep/.gitignore',
  'vendor/deep/x/y',
  'build.txt',
  '...',
  'dir./..odd',
]

test('.gitignore files mean what they mean to Git', () => {
  using directory = new TemporaryDirectory()
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', directory.path, ...args], { encoding: 'utf8' })
  git('init', '-q')
  for (const [dir, text] of ignoreFiles) write(directory, join(dir, '.gitignore'), text)
  for (const file of files) if (!file.endsWith('.gitignore')) write(directory, file, '')
  const listed = git('-c', 'core.quotePath=off', 'ls-files', '--others', '--exclude-standard')
  const tracked = new Set(listed.trim().split('\n'))
  const ignores = new GitIgnores(ignoreFiles)
  const selected = files.filter((path) => !ignores.ignores(path, 'file'))
  expect(selected).toEqual(files.filter((path) => tracked.has(path)))
})

function write(directory: TemporaryDirectory, path: string, text: string): void {
  mkdirSync(dirname(directory.file(path)), { recursive: true })
  writeFileSync(directory.file(path), text)
}

test('patterns leave out what they match, with all that is below', () => {
  const selects = selecting({
    exclude: ['node_modules', '*.tmp', '/top', 'only-dir/'],
    ignores: null,
  })
  const left = ['a/node_modules', 'a/node_modules/b', 'x.tmp', 'top', 'top/a', 'only-dir/a']
  for (const path of left) expect(selects(path, 'file'), path).toBe(false)
  for (const path of ['', 'a', 'a/top', 'Node_modules', 'only-dir', 'tmp']) {
    expect(selects(path, 'file'), path).toBe(true)
  }
  expect(selects('only-dir', 'directory')).toBe(false)
})

test('a hostile .gitignore cannot keep the caller busy', () => {
  const hostile = `${'*a'.repeat(30)}b`
  expect(() => new GitIgnores(new Map([['sub', hostile]]))).toThrow(/sub\/\.gitignore.*wildcards/)
  const doubled = '**/a/'.repeat(20)
  expect(() => new GitIgnores(new Map([['', doubled]]))).toThrow('wildcards')
})
