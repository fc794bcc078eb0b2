import { expect, test } from 'vitest'
import type { DumpImages } from '../../../../src/criu/images/dump-images.ts'
import {
  fdinfoEntry,
  fileEntry,
  mmEntry,
  regFileEntry,
  remapFilePathEntry,
  taskKobjIdsEntry,
  vmaEntry,
} from '../../../../src/criu/images/format/criu-messages.ts'
import { make } from '../../../../src/criu/images/format/schema.ts'
import { linkRemapsOf } from '../../../../src/criu/images/link-remaps.ts'
import { dumpOf } from '../../../support/dump-of.ts'

const head = Buffer.from('1943565438313056', 'hex')
const sharedAnonymous = 1 | 256
const privateFile = 1 | 64

/** Process 7, whose descriptor 3 is the file 5, which CRIU has linked as file 6. */
function dumpWith(status: number): DumpImages {
  const image = (...entries: Uint8Array[]) => ({ head, entries })
  const reg = make(regFileEntry, { id: 6, name: 'root/link_remap.6' })
  const area = make(vmaEntry, { start: 0x1000, end: 0x3000, shmid: 5, status })
  return dumpOf({
    'files.img': image(make(fileEntry, { type: 1, id: 6, reg })),
    'remap-fpath.img': image(make(remapFilePathEntry, { origId: 5, remapId: 6 })),
    'ids-7.img': image(make(taskKobjIdsEntry, { filesId: 2 })),
    'fdinfo-2.img': image(make(fdinfoEntry, { id: 5, fd: 3 })),
    'mm-7.img': image(make(mmEntry, { exeFileId: 1, vmas: [area] })),
  })
}

test('a file that has lost its name is found by the descriptor or the mapping that holds it', () => {
  const name = '/root/link_remap.6'
  const mapped = { name, holder: '/proc/7/map_files/1000-3000' }
  expect(linkRemapsOf(dumpWith(privateFile))).toEqual([mapped])
  // Shared memory has its own numbers, which are not files.
  expect(linkRemapsOf(dumpWith(sharedAnonymous))).toEqual([{ name, holder: '/proc/7/fd/3' }])
})
