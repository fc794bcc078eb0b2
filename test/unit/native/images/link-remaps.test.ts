import { writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  fdinfoEntry,
  fileEntry,
  mmEntry,
  regFileEntry,
  remapFilePathEntry,
  taskKobjIdsEntry,
  vmaEntry,
} from '../../../../src/criu/images/criu-messages.ts'
import { encodeImage } from '../../../../src/criu/images/image-file.ts'
import { linkRemapsOf } from '../../../../src/criu/images/link-remaps.ts'
import { make } from '../../../../src/criu/images/schema.ts'
import { TemporaryDirectory } from '../../../support/temporary-directory.ts'

const head = Buffer.from('1943565438313056', 'hex')
const sharedAnonymous = 1 | 256
const privateFile = 1 | 64

/** Process 7, whose descriptor 3 is the file 5, which CRIU has linked as file 6. */
function writeDump(dir: TemporaryDirectory, status: number): void {
  const write = (name: string, ...entries: Uint8Array[]) =>
    writeFileSync(dir.file(name), encodeImage({ head, entries }))
  const reg = make(regFileEntry, { id: 6, name: 'root/link_remap.6' })
  const area = make(vmaEntry, { start: 0x1000, end: 0x3000, shmid: 5, status })
  write('files.img', make(fileEntry, { type: 1, id: 6, reg }))
  write('remap-fpath.img', make(remapFilePathEntry, { origId: 5, remapId: 6 }))
  write('ids-7.img', make(taskKobjIdsEntry, { filesId: 2 }))
  write('fdinfo-2.img', make(fdinfoEntry, { id: 5, fd: 3 }))
  write('mm-7.img', make(mmEntry, { exeFileId: 1, vmas: [area] }))
}

test('a file without its name is found by the descriptor or the mapping that holds it', async () => {
  using dir = new TemporaryDirectory()
  const name = '/root/link_remap.6'
  writeDump(dir, privateFile)
  expect(await linkRemapsOf(dir.path)).toEqual([{ name, holder: '/proc/7/map_files/1000-3000' }])
  // Shared memory has numbers of its own, which mean no file.
  writeDump(dir, sharedAnonymous)
  expect(await linkRemapsOf(dir.path)).toEqual([{ name, holder: '/proc/7/fd/3' }])
})
