import { expect, test } from 'vitest'
import {
  fileEntry,
  mntEntry,
  regFileEntry,
} from '../../../../src/criu/images/format/criu-messages.ts'
import { encodeImage, type ImageFile } from '../../../../src/criu/images/format/image-file.ts'
import { make } from '../../../../src/criu/images/format/schema.ts'
import { mountAt } from '../../../../src/criu/images/mounts.ts'
import {
  appendRegFiles,
  nextFileId,
  regFilesUnder,
} from '../../../../src/criu/images/regular-files.ts'
import { dumpOf } from '../../../support/dump-of.ts'

const head = Buffer.from('1943565438313056', 'hex')

function filesWith(...names: string[]): ImageFile {
  const entries = names.map((name, index) =>
    make(fileEntry, { type: 1, id: index + 1, reg: make(regFileEntry, { id: index + 1, name }) }),
  )
  const socket = make(fileEntry, { type: 5, id: 40 })
  return { head, entries: [...entries, socket] }
}

test('an added file looks like one that CRIU has mapped for reading', () => {
  const before = filesWith('/usr/bin/bash')
  const id = nextFileId(before)
  expect(id).toBe(41)
  const file = { id, name: '/.forkpoint/pages/1', mntId: 103, size: 8192, mode: 0o100444 }
  const files = appendRegFiles(before, [file])
  expect(files.entries.slice(0, -1)).toEqual(before.entries)
  expect(encodeImage(files).subarray(0, encodeImage(before).length)).toEqual(encodeImage(before))
  // Field by field: id, flags, position, owner, name, mount (zigzag), size, mode.
  const reg = `0829 1000 1800 2a0a08001000180020002800 3213${hex(file.name)} 38ce01 408040 50a48202`
  const message = `0801 1029 1a31 ${reg}`.replaceAll(' ', '')
  const [added = head] = files.entries.slice(-1)
  expect(Buffer.from(added).toString('hex')).toBe(message)
})

function hex(text: string): string {
  return Buffer.from(text).toString('hex')
}

test('added files get free numbers', () => {
  const before = filesWith('/usr/bin/bash')
  expect(appendRegFiles(before, [])).toBe(before)
  const id = nextFileId(before)
  const added = ['/pages/1', '/pages/2'].map((name, index) => ({ id: id + index, name, mntId: 1 }))
  const files = appendRegFiles(before, added)
  expect(regFilesUnder(files, '/pages/').map((file) => file.id)).toEqual([id, id + 1])
  expect(nextFileId(files)).toBe(id + 2)
})

test('files are found by the beginning of their path', () => {
  const before = filesWith('/usr/bin/bash', '/pages', '/pages/old')
  const id = nextFileId(before)
  const files = appendRegFiles(before, [{ id, name: '/pages/new', mntId: 1, size: 4096 }])
  expect(regFilesUnder(files, '/pages/')).toEqual([
    { id: 3, name: '/pages/old', size: undefined },
    { id, name: '/pages/new', size: 4096 },
  ])
})

test('a mount is found by its mountpoint', () => {
  const dev = make(mntEntry, { mntId: 9, mountpoint: '/dev' })
  const root = make(mntEntry, { mntId: 7, mountpoint: '/' })
  const dump = dumpOf({ 'mountpoints-12.img': { head, entries: [dev, root] } })
  expect(mountAt(dump, '/')).toBe(7)
  expect(mountAt(dump, '/.forkpoint/pages')).toBeUndefined()
})
