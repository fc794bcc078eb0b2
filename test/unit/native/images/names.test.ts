import { expect, test } from 'vitest'
import {
  fhEntry,
  fileEntry,
  inotifyFileEntry,
  inotifyWdEntry,
  regFileEntry,
  unixSkEntry,
} from '../../../../src/criu/images/format/criu-messages.ts'
import type { ImageFile } from '../../../../src/criu/images/format/image-file.ts'
import { make } from '../../../../src/criu/images/format/schema.ts'
import { usedNames } from '../../../../src/criu/images/names.ts'

const head = Buffer.from('1943565440110555', 'hex')
const image = (...entries: Uint8Array[]) => ({ head, entries })
const file = (name: string, flags = 0) =>
  make(fileEntry, { type: 1, id: 1, reg: make(regFileEntry, { id: 1, flags, pos: 0n, name }) })
const socket = (given: object) => make(fileEntry, { type: 2, id: 2, usk: make(unixSkEntry, given) })
const records = (files: ImageFile) => usedNames(files).toString('latin1').split('\0').slice(0, -1)

test('every open file, once, in its exact bytes', () => {
  expect(records(image(file('/a/\xff'), file('/b'), file('/a/\xff')))).toEqual(['f/a/\xff', 'f/b'])
})

test('a symbolic link counts as one only if it was opened itself', () => {
  const itself = 0o10400000
  expect(records(image(file('/l', itself), file('/l', 0o400000)))).toEqual(['l/l', 'f/l'])
})

test('sockets by their names, in the directory of a relative one', () => {
  const files = image(
    socket({ name: '/run/s\0' }),
    socket({ name: 's\0', nameDir: '/srv' }),
    socket({ name: '/gone/s\0', deleted: true }),
    socket({ name: '\0abstract' }),
    socket({ name: '' }),
  )
  expect(records(files)).toEqual(['s/run/s', 's/srv/s', 'd/gone/s'])
})

test('watched paths', () => {
  const fHandle = make(fhEntry, { path: '/w' })
  const wd = make(inotifyWdEntry, { fHandle })
  const ify = make(inotifyFileEntry, { wd: [wd] })
  expect(records(image(make(fileEntry, { type: 3, id: 3, ify })))).toEqual(['l/w'])
})

test('a name with a NUL in it cannot count as two', () => {
  expect(records(image(file('/a\0f/etc')))).toEqual(['f/a'])
})
