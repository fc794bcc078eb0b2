import { expect, test } from 'vitest'
import { fdinfoEntry, mmEntry, vmaEntry } from '../../../../src/criu/images/criu-messages.ts'
import { encodeImage } from '../../../../src/criu/images/image-file.ts'
import { make } from '../../../../src/criu/images/schema.ts'
import { mappedBytes, neededPages } from '../../../../src/criu/memory/needed-pages.ts'
import { ownersOfPages } from '../../../../src/criu/memory/plan-sharing.ts'

const head = Buffer.from('1943565420284957', 'hex')
const known = new Map([
  [11, 's1-1'],
  [12, 's2-1'],
  [13, 's2-2'],
])

/** A process that maps 8 KiB of each of these files. */
function mmOf(...fileIds: number[]): Buffer {
  const vmas = fileIds.map((shmid, at) => {
    const start = 0x10000 * (at + 1)
    const place = { start, end: start + 8192, pgoff: 0, shmid, fd: -1, fdflags: 0 }
    return make(vmaEntry, { ...place, prot: 3, flags: 2, status: 65 })
  })
  return encodeImage({ head, entries: [make(mmEntry, { exeFileId: 3, vmas })] })
}

function fdinfoOf(...ids: number[]): Buffer {
  const entries = ids.map((id, at) => make(fdinfoEntry, { id, fd: at }))
  return encodeImage({ head, entries })
}

test('pages are needed that are mapped or open, whatever else the images know of', () => {
  expect(neededPages(known, [mmOf(11, 5), mmOf(11)], [])).toEqual(new Set(['s1-1']))
  expect(neededPages(known, [mmOf(5)], [fdinfoOf(4, 13)])).toEqual(new Set(['s2-2']))
  expect(neededPages(known, [mmOf(5)], [fdinfoOf(4)])).toEqual(new Set())
})

test('what a process maps of pages files is counted, and nothing else', () => {
  expect(mappedBytes(known, mmOf(11, 5, 12, 12))).toBe(3 * 8192)
})

test('processes with one memory have no pages of their own', () => {
  const process = (pid: number, pagesId: number) => ({
    ...{ pid, pagesId, mm: head, pagemap: head, pagesBytes: 0 },
  })
  const all = [process(1, 1), process(7, 2), process(8, 2), process(9, 3)]
  expect(ownersOfPages(all).map(({ pid }) => pid)).toEqual([1, 9])
})
