import { expect, test } from 'vitest'
import { parseAttribute, withAttributes } from '../../../src/criu/images/attributes.ts'
import { DumpImages } from '../../../src/criu/images/dump-images.ts'
import { protectionsIn } from '../../../src/criu/images/noted/protections.ts'
import { notedLosses } from '../../../src/criu/losses/noted-losses.ts'

const nobody = new Map()

test('what was noted of a descriptor is told in words, by process and object', () => {
  const [lost] = notedLosses([parseAttribute('lost 7 4 events')], nobody)
  expect(lost?.process).toEqual({ pid: 7, command: '?' })
  expect(`${lost?.object} ${lost?.what}`).toBe(
    'the unread events of the inotify descriptor 4 are lost',
  )
})

test('who a connection came from is told', () => {
  const [lost] = notedLosses([parseAttribute('lost 7 4 peer 44 55')], nobody)
  expect(lost?.what).toBe('comes from root instead of user and group 44 and 55')
})

test.each(['lost 7 4 constructor', 'lost 7 4 ', 'option 7 4 events'])(
  'other words are no loss: %j',
  (line) => {
    expect(notedLosses([parseAttribute(line)], nobody)).toEqual([])
  },
)

test('a loss is not put back', () => {
  const images = new DumpImages('/none', [])
  expect(withAttributes(images, [parseAttribute('lost 7 4 events')])).toBe(images)
})

test('protections come from what CRIU was shown, if it is well-formed', () => {
  const notes = ['denial 7 1', 'sealed 8 7f00-7f10', 'sealed 8 7f00', 'denial 0 1', 'denial 7 1 2']
  const bytes = Buffer.from(notes.map((note) => `${note}\0`).join(''))
  const images = new DumpImages('/none', []).with({ 'noted.img': bytes })
  expect(protectionsIn(images)).toEqual([
    { word: 'write-or-execute', process: 7, number: 7, value: '1' },
    { word: 'sealed', process: 8, number: 8, value: '7f00-7f10' },
  ])
})
