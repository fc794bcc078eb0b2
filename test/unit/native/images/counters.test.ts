import { expect, test } from 'vitest'
import { parseAttribute } from '../../../../src/criu/images/attributes.ts'
import { DumpImages } from '../../../../src/criu/images/dump-images.ts'
import {
  eventfdEntry,
  fdinfoEntry,
  fileEntry,
  taskKobjIdsEntry,
  timerfdEntry,
} from '../../../../src/criu/images/format/criu-messages.ts'
import { make, read } from '../../../../src/criu/images/format/schema.ts'
import { withCounters } from '../../../../src/criu/images/noted/counters.ts'

const head = Buffer.from('1943565440110555', 'hex')
const image = (...entries: Uint8Array[]) => ({ head, entries })

const timer = { ticks: 1, vsec: 0, vnsec: 0, isec: 1, insec: 0 }
const images = new DumpImages('/none', []).with({
  'ids-7.img': image(make(taskKobjIdsEntry, { filesId: 3 })),
  'fdinfo-3.img': image(
    make(fdinfoEntry, { id: 40, fd: 4 }),
    make(fdinfoEntry, { id: 50, fd: 5 }),
    make(fdinfoEntry, { id: 60, fd: 6 }),
  ),
  'files.img': image(
    make(fileEntry, { type: 1, id: 40, efd: make(eventfdEntry, { flags: 2 }) }),
    make(fileEntry, { type: 1, id: 50, efd: make(eventfdEntry, { flags: 2 }) }),
    make(fileEntry, { type: 1, id: 60, tfd: make(timerfdEntry, timer) }),
  ),
})

function filesWith(...notes: string[]) {
  const { files } = withCounters(images, notes.map(parseAttribute))
  return files.entries.map((entry) => read(fileEntry, entry))
}

test('only the event counter that is a semaphore is marked', () => {
  const [first, second] = filesWith('semaphore 7 5 -')
  expect(first?.efd && read(eventfdEntry, first.efd).flags).toBe(2)
  expect(second?.efd && read(eventfdEntry, second.efd).flags).toBe(0o40002)
})

test('all ticks that nobody has read count', () => {
  const [, , third] = filesWith('ticks 7 6 12')
  expect(third?.tfd && read(timerfdEntry, third.tfd)).toMatchObject({ ...timer, ticks: 12 })
})

test('a note about something else changes nothing', () => {
  expect(withCounters(images, [parseAttribute('affinity 7 7 01')])).toBe(images)
  expect(filesWith('semaphore 7 6 -', 'ticks 9 6 12')).toEqual(filesWith())
})
