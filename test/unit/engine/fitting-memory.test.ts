import { expect, test } from 'vitest'
import {
  copiesAtOnce,
  fitOf,
  freeBytes,
  leastBytes,
  neededBytes,
} from '../../../src/engine/memory/fitting.ts'
import { isWithinLimits, requireWithinLimits } from '../../../src/engine/memory/limits.ts'
import { ResourceError } from '../../../src/model/errors.ts'
import { newSnapshotId } from '../../../src/model/ids.ts'
import type { SnapshotMemory, SnapshotRecord } from '../../../src/model/snapshot.ts'

const MB = 1e6

const memory: SnapshotMemory = {
  mode: 'auto',
  sharedBytes: 900 * MB,
  copiedBytes: 300 * MB,
  processes: [],
}

test('a copy needs what is copied, and nothing of what is mapped', () => {
  expect(neededBytes({ memory: { ...memory, neededBytes: 100 * MB } })).toBe(100 * MB)
  expect(neededBytes({ memory })).toBe(300 * MB)
  expect(neededBytes({})).toBe(0)
})

test('what processes have in common may count once or for each', () => {
  const family = { memory: { ...memory, neededBytes: 300 * MB, commonBytes: 200 * MB } }
  expect(neededBytes(family)).toBe(300 * MB)
  expect(leastBytes(family)).toBe(100 * MB)
  expect(leastBytes({ memory })).toBe(300 * MB)
})

test('a twentieth of all memory is left for the rest of the machine', () => {
  expect(freeBytes({ availableBytes: 1000 * MB, totalBytes: 4000 * MB })).toBe(800 * MB)
  expect(freeBytes({ availableBytes: 100 * MB, totalBytes: 4000 * MB })).toBe(0)
})

const free = { freeBytes: 800 * MB, reservedBytes: 0 }

test('copies fit up to the last free byte', () => {
  expect(fitOf({ ...free, neededBytes: 0 })).toBe('now')
  expect(fitOf({ ...free, neededBytes: 800 * MB })).toBe('now')
  expect(fitOf({ ...free, neededBytes: 800 * MB + 1 })).toBe('never')
})

test('two that fit alone but not together wait for each other', () => {
  const both = { ...free, reservedBytes: 500 * MB }
  expect(fitOf({ ...both, neededBytes: 300 * MB })).toBe('now')
  expect(fitOf({ ...both, neededBytes: 500 * MB })).toBe('later')
  expect(fitOf({ ...both, neededBytes: 900 * MB })).toBe('never')
  // Once the first is made, the kernel counts it, and it is known whether the second fits.
  expect(fitOf({ freeBytes: 300 * MB, reservedBytes: 0, neededBytes: 500 * MB })).toBe('never')
})

test('what copies nothing always fits, even if more is reserved than is free', () => {
  expect(fitOf({ freeBytes: 100, reservedBytes: 500, neededBytes: 0 })).toBe('now')
  expect(fitOf({ freeBytes: 100, reservedBytes: 500, neededBytes: 1 })).toBe('later')
})

test('large copies are made one after the other', () => {
  const atOnce = (needed: number) =>
    copiesAtOnce({ neededBytes: needed, freeBytes: 800 * MB, most: 4 })
  expect(atOnce(0)).toBe(4)
  expect(atOnce(10 * MB)).toBe(4)
  expect(atOnce(190 * MB)).toBe(2)
  expect(atOnce(700 * MB)).toBe(1)
})

function limited(bytes: number | null): Pick<SnapshotRecord, 'id' | 'name' | 'memory' | 'origin'> {
  const limits = bytes === null ? {} : { memoryBytes: bytes }
  const net = { mode: 'none', allow: [] } as const
  const source = { kind: 'host' } as const
  const origin = { source, limits, net, env: {}, workdir: '/', labels: {} }
  return { id: newSnapshotId(), name: null, memory, origin }
}

test('a copy may be as large as its limit', () => {
  expect(isWithinLimits(limited(null), {})).toBe(true)
  expect(isWithinLimits(limited(null), { memoryBytes: 300 * MB })).toBe(true)
  expect(isWithinLimits(limited(null), { memoryBytes: 300 * MB - 1 })).toBe(false)
})

test('a refusal names both figures, and what would work', () => {
  const refuse = (own: number | null) => () =>
    requireWithinLimits(limited(own), { memoryBytes: 64 * 2 ** 20 })
  expect(refuse(null)).toThrow(ResourceError)
  expect(refuse(null)).toThrow(/takes 286.1 MiB of memory, and its limit would be 64 MiB/)
  expect(remedyOf(refuse(null))).toMatch(/fork the snapshot instead: its forks have no limit/)
  expect(remedyOf(refuse(2 ** 30))).toMatch(/its forks have a limit of 1 GiB/)
  expect(remedyOf(refuse(32 * 2 ** 20))).toMatch(/end processes/)
})

function remedyOf(refuse: () => void): string | undefined {
  try {
    refuse()
  } catch (error) {
    if (error instanceof ResourceError) return error.remedy
  }
  return undefined
}
