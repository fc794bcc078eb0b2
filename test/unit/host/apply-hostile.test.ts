// What a hostile engine may list and send: only the target is touched, and only as a whole.
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { applyTo } from '../../../src/api/host/apply.ts'
import { ForkpointError } from '../../../src/model/errors.ts'
import type { FileChange } from '../../../src/model/files/file-change.ts'
import { added, fileEntry, linkEntry, sourceOf, workdir } from '../../support/hand-made-changes.ts'
import type { HandMade } from '../../support/hand-made-tar.ts'
import { TemporaryDirectory } from '../../support/temporary-directory.ts'

let files: TemporaryDirectory
beforeEach(() => {
  files = new TemporaryDirectory()
  for (const name of ['target', 'victim']) mkdirSync(files.file(name))
  writeFileSync(files.file('target/mine'), 'mine', { mode: 0o640 })
  writeFileSync(files.file('victim/file'), 'of the host', { mode: 0o600 })
})
afterEach(() => files[Symbol.dispose]())

const apply = (changes: readonly FileChange[], archive: readonly HandMade[] = []) =>
  applyTo(files.file('target'), sourceOf(changes, archive), { stateDir: files.file('state') })

function expectUntouched(): void {
  expect(readdirSync(files.file('target'))).toEqual(['mine'])
  expect(readFileSync(files.file('target/mine'), 'utf8')).toBe('mine')
  expect(readdirSync(files.file('victim'))).toEqual(['file'])
  expect(readFileSync(files.file('victim/file'), 'utf8')).toBe('of the host')
  expect(statSync(files.file('victim/file'))).toMatchObject({ mode: 0o100600, nlink: 1 })
  expect(readdirSync(files.file('state'))).toEqual([])
}

const file = fileEntry('x')
const sent = (name: string, more: Partial<HandMade> = {}): HandMade => ({
  name: `w/${name}`,
  content: 'x',
  ...more,
})

test('what an engine lists and sends is applied', async () => {
  const changes = [added('a', file), added('b', file), added('l', linkEntry('to'))]
  const link = { name: 'w/l', type: '2', target: 'to' }
  await apply(changes, [
    sent('a', { mode: 0o6755 }),
    { name: 'w/b', type: '1', target: 'w/a' },
    link,
  ])
  expect(readdirSync(files.file('target')).sort()).toEqual(['a', 'b', 'l', 'mine'])
  expect(statSync(files.file('target/b'))).toMatchObject({ mode: 0o100755, nlink: 2 })
  expect(readdirSync(files.file('state'))).toEqual([])
})

test.each<[string, FileChange[], HandMade[]]>([
  ['leads out with ..', [added('../victim/planted', file)], [sent('../victim/planted')]],
  ['is not below the working directory', [{ ...added('a', file), path: '/etc/passwd' }], []],
  ['is the working directory', [{ ...added('a', file), path: `${workdir}/` }], []],
  ['comes twice', [added('a', file), added('a', file)], [sent('a')]],
  ['comes out of order', [added('b', file), added('a', file)], [sent('a'), sent('b')]],
])('a change that %s is refused', async (_, changes, archive) => {
  await expect(apply(changes, archive)).rejects.toBeInstanceOf(ForkpointError)
  expectUntouched()
})

const changes = [added('a', file), added('b', file)]

test.each<[string, HandMade[]]>([
  ['that was not requested', [sent('a'), sent('b'), sent('c')]],
  ['under a number that apply uses', [sent('a'), sent('b'), { name: '0', content: 'x' }]],
  ['twice', [sent('a'), sent('b'), sent('b')]],
  ['as a directory', [sent('a'), { name: 'w/b', type: '5' }]],
  ['as a symlink', [sent('a'), { name: 'w/b', type: '2', target: '../victim/file' }]],
  [
    'as a second name of what was not requested',
    [sent('a'), { name: 'w/b', type: '1', target: 'w/c' }],
  ],
  [
    'as a second name of a file outside',
    [sent('a'), { name: 'w/b', type: '1', target: '../victim/file' }],
  ],
  ['as a device', [sent('a'), { name: 'w/b', type: '3' }]],
  ['not at all', [sent('a')]],
])('a file that is sent %s is refused', async (_, archive) => {
  await expect(apply(changes, archive)).rejects.toBeInstanceOf(ForkpointError)
  expectUntouched()
})

test('an archive that ends early leaves the target as it was', async () => {
  const source = sourceOf(changes, [sent('a'), sent('b')])
  const archive = async (paths: readonly string[]) => {
    const whole = await source.archive(paths)
    // Up to the report, at the boundary of an entry.
    return whole.take(2)
  }
  const options = { stateDir: files.file('state') }
  const run = applyTo(files.file('target'), { ...source, archive }, options)
  await expect(run).rejects.toThrow(/ends early|end of data/)
  expectUntouched()
})

test('a plan only asks for the changes, and applies nothing', async () => {
  const source = sourceOf([added('a', file)])
  const archive = () => Promise.reject(new Error('asked'))
  const options = { stateDir: files.file('state'), mode: 'plan' } as const
  const report = await applyTo(files.file('target'), { ...source, archive }, options)
  expect(report.changes).toHaveLength(1)
  expect(existsSync(files.file('target/a'))).toBe(false)
  expectUntouched()
})
