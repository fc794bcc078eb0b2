import { expect, test } from 'vitest'
import {
  fanotifyFileEntry,
  fanotifyInodeMarkEntry,
  fanotifyMarkEntry,
  fhEntry,
  fileEntry,
  inotifyFileEntry,
  inotifyWdEntry,
} from '../../../../src/criu/images/format/criu-messages.ts'
import { make } from '../../../../src/criu/images/format/schema.ts'
import { watchesByHandle } from '../../../../src/criu/images/watches.ts'

const head = Buffer.from('1943565438313056', 'hex')
const handleOf = (path: string | undefined) => make(fhEntry, path === undefined ? {} : { path })

/** A descriptor that watches the files of these paths; undefined: CRIU found none. */
function inotify(...paths: (string | undefined)[]): Uint8Array {
  const wd = paths.map((path) => make(inotifyWdEntry, { fHandle: handleOf(path) }))
  return make(fileEntry, { type: 8, id: 1, ify: make(inotifyFileEntry, { wd }) })
}

function fanotify(path: string | undefined): Uint8Array {
  const ie = make(fanotifyInodeMarkEntry, { fHandle: handleOf(path) })
  const onMount = make(fanotifyMarkEntry, {})
  const mark = [onMount, make(fanotifyMarkEntry, { ie })]
  return make(fileEntry, { type: 12, id: 2, ffy: make(fanotifyFileEntry, { mark }) })
}

const regular = make(fileEntry, { type: 1, id: 3 })
const files = (...entries: Uint8Array[]) => ({ head, entries: [regular, ...entries] })

test('watches that all have paths do not bind a snapshot to its layers', () => {
  expect(watchesByHandle(files())).toBe(false)
  expect(watchesByHandle(files(inotify('/a', '/b'), fanotify('/c')))).toBe(false)
})

test('a watch without a path does', () => {
  expect(watchesByHandle(files(inotify('/a'), inotify('/a', undefined)))).toBe(true)
  expect(watchesByHandle(files(inotify('/a'), fanotify(undefined)))).toBe(true)
})
