import { expect, test } from 'vitest'
import { decodeImage } from '../../../../src/criu/images/format/image-file.ts'
import { refuseUnknownImages } from '../../../../src/criu/images/format/version.ts'
import {
  decodePagemap,
  inheritedIn,
  pagesIdOf,
  stretchesOf,
  withoutPages,
  withPagesId,
  withRuns,
} from '../../../../src/criu/images/memory/pagemap.ts'
import { BackendError } from '../../../../src/model/errors.ts'

/** A pagemap of messages in hexadecimal digits, after the head: pages are in pages-3.img. */
function pagemapWith(...messages: string[]): Buffer {
  const entries = ['0803', ...messages].map((hex) => {
    const message = Buffer.from(hex.replaceAll(' ', ''), 'hex')
    return Buffer.concat([Buffer.from([message.length, 0, 0, 0]), message])
  })
  return Buffer.concat([Buffer.from('1943565425400856', 'hex'), ...entries])
}

// Two pages at 0x1000, lazy or not; three at 0x3000, right behind; one at 0x10000.
const of41 = ['088020 1002 2004', '088060 1003 2006', '08808004 1001 2004'] as const
const of42 = ['088020 1000 2004 2802', '088060 1000 2006 2803', '08808004 1000 2004 2801'] as const

const versions: [string, readonly string[]][] = [
  ['4.1', of41],
  ['4.2', of42],
]

test.each(versions)('the pagemap of CRIU %s', (_, messages) => {
  const image = pagemapWith(...messages)
  expect(pagesIdOf(image)).toBe(3)
  expect(stretchesOf(decodePagemap(image))).toEqual([
    { start: 0x1000, end: 0x6000, offset: 0 },
    { start: 0x10000, end: 0x11000, offset: 0x5000 },
  ])
  expect(withoutPages(decodePagemap(image), []).pagemap).toEqual(image)
})

test('a part of a run is written like the run itself', () => {
  const taken = [{ start: 0x2000, end: 0x5000 }]
  const expected41 = pagemapWith('088020 1001 2004', '0880a001 1001 2006', of41[2])
  const expected42 = pagemapWith('088020 1000 2004 2801', '0880a001 1000 2006 2801', of42[2])
  const leftovers = [
    { offset: 0, length: 0x1000 },
    { offset: 0x4000, length: 0x2000 },
  ]
  expect(withoutPages(decodePagemap(pagemapWith(...of41)), taken)).toEqual({
    pagemap: expected41,
    leftovers,
  })
  expect(withoutPages(decodePagemap(pagemapWith(...of42)), taken)).toEqual({
    pagemap: expected42,
    leftovers,
  })
})

test('pages that are not in the pages file take no space there', () => {
  const absent = '088020 1000 2002 2802'
  const image = pagemapWith(absent, of42[1])
  expect(stretchesOf(decodePagemap(image))).toEqual([{ start: 0x3000, end: 0x6000, offset: 0 }])
  const { pagemap } = withoutPages(decodePagemap(image), [{ start: 0x1000, end: 0x5000 }])
  expect(pagemap).toEqual(pagemapWith(absent, '0880a001 1000 2006 2801'))
})

test('a run without flags is present, as in old dumps', () => {
  const image = pagemapWith('088020 1002')
  expect(stretchesOf(decodePagemap(image))).toEqual([{ start: 0x1000, end: 0x3000, offset: 0 }])
})

test('pages of a parent are told apart, and stay where they are', () => {
  const parent = '088020 1000 2001 2802'
  const image = pagemapWith(parent, of42[1])
  expect(inheritedIn(decodePagemap(image))).toEqual([{ start: 0x1000, end: 0x3000 }])
  expect(stretchesOf(decodePagemap(image))).toEqual([{ start: 0x3000, end: 0x6000, offset: 0 }])
  const { pagemap } = withoutPages(decodePagemap(image), [{ start: 0x4000, end: 0x6000 }])
  expect(pagemap).toEqual(pagemapWith(parent, '088060 1000 2006 2801'))
})

test('a pagemap can be given other runs and another pages file', () => {
  const pagemap = decodePagemap(pagemapWith(...of42))
  const runs = [
    { start: 0x1000, end: 0x3000, place: 'parent' },
    { start: 0x3000, end: 0x6000, place: 'here' },
  ] as const
  const changed = withPagesId(withRuns(pagemap, runs), 5)
  expect(pagesIdOf(changed)).toBe(5)
  expect(inheritedIn(decodePagemap(changed))).toEqual([{ start: 0x1000, end: 0x3000 }])
  expect(stretchesOf(decodePagemap(changed))).toEqual([{ start: 0x3000, end: 0x6000, offset: 0 }])
})

test.each([
  ['pages of a parent, in the old format', '088020 1002 1801', /in a parent/],
  ['a flag of the future', '088020 1000 200c 2802', /flags 12/],
  ['a field of the future', '088020 1000 2004 2802 3001', /at 1000 have unknown fields/],
  ['an address within a page', '088120 1000 2004 2802', /pages at 1001 follow 0/],
])('%s is refused, with the reason', (_, message, reason) => {
  const decode = () => decodePagemap(pagemapWith(message))
  expect(decode).toThrow(BackendError)
  expect(decode).toThrow(reason)
})

test('pages out of order are refused', () => {
  expect(() => decodePagemap(pagemapWith(of42[1], of42[0]))).toThrow(/pages at 1000 follow 6000/)
})

test('images of another version are refused, with a remedy', () => {
  const inventory = (version: number) =>
    decodeImage(Buffer.from([0x16, 0x31, 0x31, 0x58, 2, 0, 0, 0, 8, version]))
  expect(() => refuseUnknownImages(inventory(2))).not.toThrow()
  try {
    refuseUnknownImages(inventory(3))
    expect.unreachable()
  } catch (error) {
    expect(error).toBeInstanceOf(BackendError)
    expect(error).toMatchObject({ message: expect.stringContaining('version is 3, not 2') })
    expect((error as BackendError).remedy).toMatch(/doctor/)
  }
})
