import { expect, test } from 'vitest'
import { pstreeEntry } from '../../../../src/criu/images/format/criu-messages.ts'
import { make } from '../../../../src/criu/images/format/schema.ts'
import { type CopiedPages, commonBytes } from '../../../../src/criu/images/memory/common-pages.ts'
import { reallyCommon } from '../../../../src/criu/memory/needed-bytes.ts'

const head = Buffer.from('1943565420284957', 'hex')

/** Process 1, its children 2 and 3, and a child of 2. */
const pstree = {
  head,
  entries: [
    [1, 0],
    [2, 1],
    [3, 1],
    [4, 2],
  ].map(([pid = 0, ppid = 0]) => make(pstreeEntry, { pid, ppid })),
}

const copied = (executable: number, ...pages: [start: number, end: number][]): CopiedPages => ({
  executable,
  pages: pages.map(([start, end]) => ({ start, end })),
  areas: [
    { start: 0x1000, end: 0x8000 },
    { start: 0x9000, end: 0xa000 },
  ],
})

test('pages of a process and its parent at the same addresses may be common', () => {
  const parent = copied(1, [0x1000, 0x5000], [0x9000, 0xa000])
  const child = copied(1, [0x3000, 0x7000], [0x9000, 0xa000])
  expect(
    commonBytes(
      pstree,
      new Map([
        [1, parent],
        [2, child],
      ]),
    ),
  ).toBe(0x3000)
})

test('pages in an area that has grown since are not', () => {
  const parent = copied(1, [0x1000, 0x5000], [0x9000, 0xa000])
  const grown = { start: 0x1000, end: 0x8800 }
  const child = { ...parent, areas: [grown, { start: 0x9000, end: 0xa000 }] }
  expect(
    commonBytes(
      pstree,
      new Map([
        [1, parent],
        [2, child],
      ]),
    ),
  ).toBe(0x1000)
})

test('pages of siblings, of other programs and of processes without a parent are not', () => {
  const memory = copied(1, [0x1000, 0x5000])
  const siblings = new Map([
    [2, memory],
    [3, memory],
  ])
  expect(commonBytes(pstree, siblings)).toBe(0)
  const others = new Map([
    [1, memory],
    [2, copied(2, [0x1000, 0x5000])],
    [4, memory],
  ])
  expect(commonBytes(pstree, others)).toBe(0)
})

test('each generation is compared with the one before', () => {
  const memory = copied(1, [0x1000, 0x2000])
  const all = new Map([1, 2, 3, 4].map((pid) => [pid, memory]))
  expect(commonBytes(pstree, all)).toBe(0x3000)
})

test('the original tells how much of it is equal, within what the images allow', () => {
  // 800 in the images, of which 600 may be common.
  expect(reallyCommon(800, 600, 200)).toBe(600)
  expect(reallyCommon(800, 600, 500)).toBe(300)
  // A child of a process that has ended has it alone in a copy.
  expect(reallyCommon(800, 0, 200)).toBe(0)
  // The original also has memory that is mapped in a copy, or not part of it.
  expect(reallyCommon(800, 600, 2000)).toBe(0)
  expect(reallyCommon(800, 600, 100)).toBe(600)
})
