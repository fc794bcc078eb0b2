import { expect, test } from 'vitest'
import {
  fdinfoEntry,
  fileEntry,
  mmEntry,
  regFileEntry,
  vmaEntry,
} from '../../../../src/criu/images/format/criu-messages.ts'
import { encodeImage, type ImageFile } from '../../../../src/criu/images/format/image-file.ts'
import { make } from '../../../../src/criu/images/format/schema.ts'
import { decodeAreas } from '../../../../src/criu/images/memory/areas.ts'
import { knownPages, mappedBytes, neededPages } from '../../../../src/criu/memory/needed-pages.ts'
import { ownersOfPages } from '../../../../src/criu/memory/plan-sharing.ts'
import { dumpOf } from '../../../support/dump-of.ts'
import { pagemapOf } from '../images/layouts.ts'

const head = Buffer.from('1943565420284957', 'hex')
const names = new Map([
  [11, 's1-1'],
  [12, 's2-1'],
  [13, 's2-2'],
])

/** files.img that lists these, and another file. */
const files = {
  head,
  entries: [[5, '/usr/bin/bash'] as const, ...names].map(([id, name]) => {
    const path = names.has(id) ? `/.forkpoint/pages/${name}` : name
    return make(fileEntry, { type: 1, id, reg: make(regFileEntry, { id, name: path }) })
  }),
}

/** A process that maps 8 KiB of each of these files. */
function mmOf(...fileIds: number[]): Buffer {
  const vmas = fileIds.map((shmid, at) => {
    const start = 0x10000 * (at + 1)
    const place = { start, end: start + 8192, pgoff: 0, shmid, fd: -1, fdflags: 0 }
    return make(vmaEntry, { ...place, prot: 3, flags: 2, status: 65 })
  })
  return encodeImage({ head, entries: [make(mmEntry, { exeFileId: 3, vmas })] })
}

function fdinfoOf(...ids: number[]): ImageFile {
  return { head, entries: ids.map((id, at) => make(fdinfoEntry, { id, fd: at })) }
}

/** What is needed by processes with these memories, one of which has these files open. */
function needed(mms: Buffer[], open: ImageFile): Set<string> {
  const memories = Object.fromEntries(mms.map((mm, index) => [`mm-${index + 1}.img`, mm]))
  return neededPages(dumpOf({ 'files.img': files, 'fdinfo-2.img': open, ...memories }))
}

test('the needed pages are those that are mapped or open, whatever else the images list', () => {
  expect(knownPages(files)).toEqual(names)
  expect(needed([mmOf(11, 5), mmOf(11)], fdinfoOf())).toEqual(new Set(['s1-1']))
  expect(needed([mmOf(5)], fdinfoOf(4, 13))).toEqual(new Set(['s2-2']))
  expect(needed([mmOf(5)], fdinfoOf(4))).toEqual(new Set())
})

test('only what a process maps from pages files is counted, unless a page of its own hides it', () => {
  const mm = mmOf(11, 5, 12, 12)
  const pagemap = (...present: number[]) => pagemapOf(present, { version: '4.2', longest: 1 })
  expect(mappedBytes(names, { mm, pagemap: pagemap() })).toBe(3 * 8192)
  const [first] = decodeAreas(mm).areas
  const hidden = { mm, pagemap: pagemap(first?.start ?? 0) }
  expect(mappedBytes(names, hidden)).toBe(3 * 8192 - 4096)
})

test('processes that share one memory have no pages of their own', () => {
  const empty = { mm: head, pagemap: head, pagesBytes: 0 }
  const process = (pid: number, pagesId: number) => ({ pid, pagesId, ...empty })
  const all = [process(1, 1), process(7, 2), process(8, 2), process(9, 3)]
  expect(ownersOfPages(all).map(({ pid }) => pid)).toEqual([1, 9])
})
