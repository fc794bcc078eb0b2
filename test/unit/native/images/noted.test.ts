import { linkSync, lstatSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parseAttribute } from '../../../../src/criu/images/attributes.ts'
import { DumpImages } from '../../../../src/criu/images/dump-images.ts'
import {
  fileEntry,
  pipeEntry,
  unixSkEntry,
} from '../../../../src/criu/images/format/criu-messages.ts'
import { make, read } from '../../../../src/criu/images/format/schema.ts'
import { usedNames } from '../../../../src/criu/images/names.ts'
import { withNoted } from '../../../../src/criu/images/noted/noted.ts'
import { nothingNoted } from '../../../../src/criu/images/noted.ts'
import { TemporaryDirectory } from '../../../support/temporary-directory.ts'

const head = Buffer.from('1943565440110555', 'hex')
const listening = 10
const established = 1

function socket(ino: number, name: string, state = listening): Uint8Array {
  return make(fileEntry, {
    type: 5,
    id: ino,
    usk: make(unixSkEntry, { ino, type: 1, state, name }),
  })
}

function noted(notes: string[], ...entries: Uint8Array[]): DumpImages {
  const bytes = Buffer.from(notes.map((note) => `${note}\0`).join(''), 'latin1')
  return new DumpImages('/none', []).with({ 'files.img': { head, entries }, 'noted.img': bytes })
}

function socketsIn({ files }: DumpImages) {
  return files.entries.map((entry) => read(unixSkEntry, read(fileEntry, entry).usk ?? entry))
}

test('a renamed socket is bound as before, and then gets its present name', () => {
  const images = withNoted(
    noted(['socket 7 here 1 99 /srv/\xff a'], socket(7, 'old\0')),
    '/none',
    nothingNoted,
  )
  const [renamed] = socketsIn(images)
  expect(renamed).toMatchObject({ deleted: true, nameDir: '/srv//srv/\xff a' })
  expect(usedNames(images.files).toString('latin1')).toBe('d/srv/old\0s/srv/\xff a\0')
})

test('a socket at the top of the file system', () => {
  const [renamed] = socketsIn(
    withNoted(noted(['socket 7 here 1 9 /s'], socket(7, 'old\0')), '/none', nothingNoted),
  )
  expect(renamed?.nameDir).toBe('/.//s')
})

test('an end of a connection is not bound', () => {
  const images = noted(['socket 7 here 1 9 /a/s'], socket(7, 'old\0', established))
  expect(socketsIn(withNoted(images, '/none', nothingNoted))[0]).toMatchObject({
    deleted: undefined,
    nameDir: '/a',
  })
})

test('other sockets stay as they are', () => {
  const images = noted(['socket 7 here 1 9 /a/s'], socket(8, 'old\0'))
  expect(withNoted(images, '/none', nothingNoted).files).toBe(images.files)
})

test('all names of a socket that the kernel knows none of are found', async () => {
  using upper = new TemporaryDirectory()
  const path = join(upper.path, 'a', 's')
  mkdirSync(join(upper.path, 'a'))
  mkdirSync(join(upper.path, 'b'))
  writeFileSync(join(upper.path, 'b', 'no-socket'), '')
  const server = createServer().listen(path)
  await new Promise((listens) => server.once('listening', listens))
  linkSync(path, join(upper.path, 'b', 't'))
  const { ino } = lstatSync(path)
  const images = noted([`socket 7 deleted 2 ${ino} /a/old`], socket(7, '/a/old\0'))
  const [renamed] = socketsIn(withNoted(images, upper.path, nothingNoted))
  server.close()
  expect(renamed?.nameDir?.split('//').slice(1).toSorted()).toEqual(['a/s', 'b/t'])
})

test('ends of pipes that CRIU took for ends to write are there to read', () => {
  const pipe = (flags: number) =>
    make(fileEntry, { type: 1, id: 1, pipe: make(pipeEntry, { flags }) })
  const images = noted(['hidden', 'pipes'], pipe(0x20000801), pipe(0x20000003), pipe(1))
  const { files } = withNoted(images, '/none', {
    waits: [],
    attributes: [parseAttribute('noted 1 1 -')],
  })
  const flags = files.entries.map((entry) => read(fileEntry, entry).pipe ?? entry)
  expect(flags.map((entry) => read(pipeEntry, entry).flags)).toEqual([0x800, 2, 1])
})

test('what CRIU did not see must have been noted', () => {
  expect(() => withNoted(noted(['hidden']), '/none', nothingNoted)).toThrow('was not noted')
})
