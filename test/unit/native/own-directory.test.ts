import { chmodSync, chownSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { PrerequisiteError } from '../../../src/index.ts'
import { makeOwnDirectory } from '../../../src/linux/files/own-directory.ts'
import { Spawner } from '../../../src/linux/spawner.ts'
import { TemporaryDirectory } from '../../support/temporary-directory.ts'

const nobody = 65534

const plants: Record<string, (path: string) => void> = {
  "another user's directory": (path) => {
    mkdirSync(path)
    chownSync(path, nobody, nobody)
  },
  'a directory that others may write to': (path) => {
    mkdirSync(path)
    chmodSync(path, 0o777)
  },
  'a link to a directory of root': (path) => symlinkSync('/root', path),
  'a link to nothing': (path) => symlinkSync('/nothing', path),
  'a file': (path) => writeFileSync(path, ''),
}

test('is made if it does not exist, and used if it does', () => {
  using files = new TemporaryDirectory()
  makeOwnDirectory(files.file('own'))
  makeOwnDirectory(files.file('own'))
  expect(statSync(files.file('own')).mode & 0o777).toBe(0o711)
})

test.each(Object.entries(plants))('%s in its place is refused, with a remedy', (_, plant) => {
  using files = new TemporaryDirectory()
  plant(files.file('planted'))
  const make = () => makeOwnDirectory(files.file('planted'))
  expect(make).toThrow(PrerequisiteError)
  expect(make).toThrow(files.file('planted'))
})

test.each(Object.entries(plants))('%s never becomes the /run of a worker', async (_, plant) => {
  using files = new TemporaryDirectory()
  plant(files.file('planted'))
  const ids = ['--id-base', '1000000', '--id-count', '65536']
  using spawner = new Spawner()
  spawner.prepare(['worker', '--kdat', files.file('planted'), ...ids, '--', '/bin/true'], 0)
  const { exitCode, stderr } = await spawner.job([], Buffer.alloc(0))
  expect(exitCode).not.toBe(0)
  expect(stderr).toContain(files.file('planted'))
})
