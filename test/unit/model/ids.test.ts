import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  isEnvironmentId,
  isIdPrefix,
  isSnapshotId,
  newEnvironmentId,
  newOperationId,
  newSnapshotId,
} from '../../../src/model/ids.ts'
import { parseName } from '../../../src/model/values/names.ts'

test('an id says what kind it is', () => {
  const [environment, snapshot, operation] = [
    newEnvironmentId(),
    newSnapshotId(),
    newOperationId(),
  ] as const
  expect([environment, snapshot, operation].map((id) => isEnvironmentId(id))).toEqual([
    true,
    false,
    false,
  ])
  expect(isSnapshotId(snapshot)).toBe(true)
  expect(isSnapshotId(environment)).toBe(false)
})

test('ids do not repeat and have no letters that are mistaken for others', () => {
  const ids = Array.from({ length: 20_000 }, newEnvironmentId)
  expect(new Set(ids).size).toBe(ids.length)
  for (const id of ids) expect(id).toMatch(/^e[0-9a-hjkmnp-tv-z]{11}$/)
})

test('no other text passes for an id, least of all one that leads out of a directory', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 20 }), (text) => {
      expect(isEnvironmentId(text)).toBe(
        /^e[0-9a-hjkmnp-tv-z]{11}$/.test(text) && text.length === 12,
      )
    }),
  )
  for (const bad of ['../../etc/pas', 'e0123456789a\n', 'e0123456789A', 'e0123456789i', 12, null]) {
    expect(isEnvironmentId(bad)).toBe(false)
  }
})

test('an id may be shortened to four characters', () => {
  const id = newEnvironmentId()
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 12 }), (length) => {
      expect(isIdPrefix('e', id.slice(0, length))).toBe(length >= 4)
    }),
  )
  expect(isIdPrefix('s', id)).toBe(false)
  expect(isIdPrefix('e', `${id}0`)).toBe(false)
  expect(isIdPrefix('e', 'e%__')).toBe(false)
})

test('no id is accepted as a name', () => {
  fc.assert(
    fc.property(fc.constantFrom(newEnvironmentId, newSnapshotId, newOperationId), (make) => {
      const id = make()
      expect(() => parseName(id)).toThrow(/looks like an id/)
      expect(() => parseName(id.toUpperCase())).toThrow(/looks like an id/)
    }),
  )
})
