import { describe, expect, test } from 'vitest'
import {
  afterFork,
  afterRestore,
  enoughFor,
  enqueue,
  isMet,
  sameAgain,
  surplus,
  type Want,
} from '../../../src/engine/spares/wants.ts'
import { isUnderPressure, parseReading } from '../../../src/linux/memory-pressure.ts'
import type { EnvironmentId, SnapshotId } from '../../../src/model/ids.ts'
import type { SpareRecord } from '../../../src/model/spare.ts'

const s = (n: number) => `s${n}` as SnapshotId
const e = (n: number) => `e${n}` as EnvironmentId
const restoreOf = (n: number): Want => ({ kind: 'restore', snapshot: s(n), environmentId: e(1) })

const spare = (facts: Partial<SpareRecord>): SpareRecord => ({
  id: 'x',
  kind: 'restore',
  snapshot: s(1),
  environmentId: e(1),
  name: null,
  limits: {},
  createdAt: 0,
  instance: null,
  memoryBytes: 1,
  ...facts,
})

describe('what to prepare', () => {
  test('is what was requested last, as far as there is room', () => {
    expect(enqueue([restoreOf(1), restoreOf(2)], [restoreOf(3)], 2)).toEqual([
      restoreOf(2),
      restoreOf(3),
    ])
    expect(enqueue([restoreOf(1)], [restoreOf(2), restoreOf(3)], 1)).toEqual([restoreOf(2)])
    expect(enqueue([restoreOf(1)], [restoreOf(1)], 5)).toEqual([restoreOf(1)])
  })

  test('is nothing if enough is ready', () => {
    expect(isMet(restoreOf(1), [spare({})])).toBe(true)
    expect(isMet(restoreOf(1), [spare({ environmentId: e(2) })])).toBe(false)
    expect(isMet(restoreOf(1), [spare({ kind: 'fork' })])).toBe(false)
    const [first, second] = afterFork(s(1), 2)
    if (!first || !second) throw new Error('two forks, two wants')
    expect(isMet(first, [spare({ kind: 'fork', environmentId: e(7) })])).toBe(true)
    expect(isMet(second, [spare({ kind: 'fork', environmentId: e(7) })])).toBe(false)
  })

  test('is the same again after it has been used', () => {
    expect(afterRestore(s(1), e(1))).toEqual([restoreOf(1)])
    expect(afterFork(s(1), 3)).toHaveLength(3)
  })

  test('is the same again for spares that had to go', () => {
    const gone = [
      spare({}),
      spare({ kind: 'fork', environmentId: e(7) }),
      spare({ kind: 'fork', environmentId: e(8) }),
    ]
    expect(sameAgain(gone)).toEqual([...afterFork(s(1), 2), restoreOf(1)])
  })
})

describe('which spares to end', () => {
  const sized = [10, 20, 30].map((memoryBytes) => ({ memoryBytes }))

  test.each([
    { room: { count: 3, memoryBytes: 60 }, goes: [] },
    { room: { count: 2, memoryBytes: 60 }, goes: [10] },
    { room: { count: 3, memoryBytes: 50 }, goes: [10] },
    { room: { count: 3, memoryBytes: 30 }, goes: [10, 20] },
    { room: { count: 3, memoryBytes: 29 }, goes: [10, 20, 30] },
    { room: { count: 0, memoryBytes: 60 }, goes: [10, 20, 30] },
  ])('are the oldest: $goes of 10, 20 and 30 bytes in $room', ({ room, goes }) => {
    expect(surplus(sized, room).map(({ memoryBytes }) => memoryBytes)).toEqual(goes)
  })
})

test.each([
  { bytes: 1, go: [10] },
  { bytes: 10, go: [10] },
  { bytes: 31, go: [10, 20, 30] },
  { bytes: 60, go: [10, 20, 30] },
  { bytes: 61, go: [] },
])('for $bytes bytes, $go of 10, 20 and 30 bytes are given up', ({ bytes, go }) => {
  const spares = [10, 20, 30].map((memoryBytes) => ({ memoryBytes }))
  expect(enoughFor(bytes, spares).map(({ memoryBytes }) => memoryBytes)).toEqual(go)
})

describe('memory is scarce', () => {
  const meminfo = (available: number) => `MemTotal: 1000 kB\nMemAvailable:   ${available} kB\n`
  const stalled = (percent: number) => `some avg10=${percent} avg60=0.00\nfull avg10=90.00\n`

  test.each([
    { available: 101, percent: 0, scarce: false },
    { available: 99, percent: 0, scarce: true },
    { available: 400, percent: 9.99, scarce: false },
    { available: 400, percent: 10.01, scarce: true },
    // Somebody's own limit, not the machine's memory.
    { available: 900, percent: 90, scarce: false },
  ])('with $available of 1000 available, stalled $percent %: $scarce', (given) => {
    const reading = parseReading(meminfo(given.available), stalled(given.percent))
    expect(isUnderPressure(reading)).toBe(given.scarce)
  })

  test('not merely because pressure information is missing', () => {
    expect(isUnderPressure(parseReading(meminfo(500), ''))).toBe(false)
  })
})
