import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { lineageOf } from '../../../src/engine/history/lineage.ts'
import { newParents } from '../../../src/engine/history/needs.ts'
import { planRemoval } from '../../../src/engine/history/removal.ts'
import { ConflictError } from '../../../src/model/errors.ts'
import { parseName } from '../../../src/model/values/names.ts'
import {
  anyHistory,
  environmentAt,
  historyOf,
  snapshotId,
  someSnapshot,
  standalone,
} from './histories.ts'

const family = [someSnapshot(1, null), someSnapshot(2, 1), someSnapshot(3, 2), someSnapshot(4, 1)]

describe('removing a snapshot', () => {
  test('removes only it if nothing builds on it', () => {
    expect(planRemoval(historyOf(family), [snapshotId(3)])).toEqual([snapshotId(3)])
  })

  test('is refused while other snapshots build on it, and says which', () => {
    const history = historyOf([...family, someSnapshot(5, 3, { name: parseName('best') })])
    const refused = expect(() => planRemoval(history, [snapshotId(2)]))
    refused.toThrow(
      `snapshot ${snapshotId(2)} is still needed by snapshot ${snapshotId(3)}, snapshot best`,
    )
    expect(() => planRemoval(history, [snapshotId(2)])).toThrow(
      expect.objectContaining({ remedy: expect.stringContaining('--cascade') }),
    )
  })

  test('with cascade removes everything that builds on it, the newest first', () => {
    const plan = planRemoval(historyOf(family), [snapshotId(1)], { cascade: true })
    expect(plan.indexOf(snapshotId(3))).toBeLessThan(plan.indexOf(snapshotId(2)))
    expect(plan.at(-1)).toBe(snapshotId(1))
    expect(plan).toHaveLength(4)
  })

  test('is refused while an environment needs it or what builds on it, with or without cascade', () => {
    const history = historyOf(family, [environmentAt(1, 3, 'web')])
    for (const cascade of [false, true]) {
      expect(() => planRemoval(history, [snapshotId(2)], { cascade })).toThrow(
        expect.objectContaining({
          message: expect.stringContaining('environment web'),
          remedy: expect.stringContaining('forkpoint rm web'),
        }),
      )
    }
    expect(planRemoval(history, [snapshotId(4)])).toEqual([snapshotId(4)])
  })

  test('removes several that build on each other', () => {
    expect(planRemoval(historyOf(family), [snapshotId(2), snapshotId(3)])).toEqual([
      snapshotId(3),
      snapshotId(2),
    ])
  })

  test('is refused while it is being written or read', () => {
    const writing = historyOf([someSnapshot(1, null, { status: 'writing' })])
    expect(() => planRemoval(writing, [snapshotId(1)])).toThrow(ConflictError)
    const read = { ...historyOf(family), inUse: new Set([snapshotId(3)]) }
    expect(() => planRemoval(read, [snapshotId(3)])).toThrow(/an operation on/)
  })

  test('that others only came after leaves those', () => {
    const history = standalone(historyOf(family, [environmentAt(1, 3, 'web')]))
    expect(planRemoval(history, [snapshotId(2)])).toEqual([snapshotId(2)])
    expect(() => planRemoval(history, [snapshotId(3)])).toThrow(/environment web/)
    const parents = newParents(family, new Set([snapshotId(1), snapshotId(2)]))
    expect(parents).toEqual(
      new Map([
        [snapshotId(3), null],
        [snapshotId(4), null],
      ]),
    )
    expect(newParents(family, new Set([snapshotId(2)]))).toEqual(
      new Map([[snapshotId(3), snapshotId(1)]]),
    )
  })

  test('never leaves a snapshot without what it builds on', () => {
    fc.assert(
      fc.property(
        anyHistory,
        fc.array(fc.nat(), { minLength: 1 }),
        fc.boolean(),
        (history, picks, cascade) => {
          const { length } = history.snapshots
          const wanted = length === 0 ? [] : picks.map((pick) => snapshotId(pick % length))
          let gone: Set<string>
          try {
            gone = new Set(planRemoval(history, wanted, { cascade }))
          } catch (error) {
            expect(error).toBeInstanceOf(ConflictError)
            return
          }
          const lineage = lineageOf(history.snapshots)
          const heads = history.environments.flatMap(({ head }) => head ?? [])
          const left = history.snapshots.map(({ id }) => id).filter((id) => !gone.has(id))
          for (const id of [...left, ...heads, ...history.inUse]) {
            expect(gone.has(id)).toBe(false)
            for (const ancestor of lineage.ancestorsOf(id))
              expect(gone.has(ancestor.id)).toBe(false)
          }
        },
      ),
    )
  })
})
