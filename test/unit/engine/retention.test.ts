import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { lineageOf } from '../../../src/engine/history/lineage.ts'
import {
  type History,
  planPrune,
  type RetentionRules,
} from '../../../src/engine/history/retention.ts'
import type { SnapshotId } from '../../../src/model/ids.ts'
import { parseName } from '../../../src/model/values/names.ts'
import {
  anyHistory,
  environmentAt,
  environmentId,
  historyOf,
  minuteMs,
  nowMs,
  snapshotId,
  someSnapshot,
  standalone,
} from './histories.ts'

const anyRules: fc.Arbitrary<RetentionRules> = fc.record(
  {
    keepLast: fc.nat({ max: 5 }),
    keepNamed: fc.boolean(),
    olderThanMs: fc.nat({ max: nowMs }),
  },
  { requiredKeys: [] },
)

/** A snapshot and everything it needs. */
function lineOf({ snapshots }: History, id: SnapshotId): SnapshotId[] {
  return [
    id,
    ...lineageOf(snapshots)
      .ancestorsOf(id)
      .map((ancestor) => ancestor.id),
  ]
}

describe('prune', () => {
  test('never removes what an environment needs', () => {
    fc.assert(
      fc.property(anyHistory, anyRules, (history, rules) => {
        const removed = new Set(planPrune(history, rules).remove)
        for (const { head } of history.environments) {
          if (head === null) continue
          for (const id of lineOf(history, head)) expect(removed.has(id)).toBe(false)
        }
      }),
    )
  })

  test('never removes what a kept snapshot needs, or what is being read or written', () => {
    fc.assert(
      fc.property(anyHistory, anyRules, (history, rules) => {
        const plan = planPrune(history, rules)
        const removed = new Set(plan.remove)
        const writing = history.snapshots.filter(({ status }) => status === 'writing')
        const staying = [...plan.kept, ...writing].map(({ id }) => id)
        for (const kept of [...staying, ...history.inUse]) {
          for (const id of lineOf(history, kept)) expect(removed.has(id)).toBe(false)
        }
      }),
    )
  })

  test('with labels, only removes what carries them, and keeps what the others need', () => {
    fc.assert(
      fc.property(anyHistory, anyRules, fc.nat(), (history, rules, seed) => {
        const isOurs = (index: number) => ((seed + index) * 7919) % 3 === 0
        const snapshots = history.snapshots.map((snapshot, index) => ({
          ...snapshot,
          labels: isOurs(index) ? { task: '42' } : {},
        }))
        const plan = planPrune({ ...history, snapshots }, { ...rules, labels: { task: '42' } })
        const ours = new Set(snapshots.filter(({ labels }) => 'task' in labels).map(({ id }) => id))
        const decided = [...plan.remove, ...plan.kept.map(({ id }) => id)]
        expect(new Set(decided)).toEqual(ours)
        const removed = new Set(plan.remove)
        for (const { id } of snapshots.filter((snapshot) => !ours.has(snapshot.id))) {
          for (const needed of lineOf(history, id)) expect(removed.has(needed)).toBe(false)
        }
      }),
    )
  })

  test('decides about each snapshot once, and removes each before what it builds on', () => {
    fc.assert(
      fc.property(anyHistory, anyRules, (history, rules) => {
        const { remove, kept } = planPrune(history, rules)
        const decided = [...remove, ...kept.map(({ id }) => id)].sort()
        expect(decided).toEqual(history.snapshots.map(({ id }) => id).sort())
        const order = new Map(remove.map((id, index) => [id, index]))
        for (const { id, parent } of history.snapshots) {
          const own = order.get(id)
          const parents = parent === null ? undefined : order.get(parent)
          if (own !== undefined && parents !== undefined) expect(own).toBeLessThan(parents)
        }
      }),
    )
  })

  test('keeps every named one with keepNamed, and everything younger than olderThanMs', () => {
    fc.assert(
      fc.property(anyHistory, fc.nat({ max: nowMs }), (history, olderThanMs) => {
        const named = new Set(planPrune(history, { keepNamed: true }).remove)
        const old = new Set(planPrune(history, { olderThanMs }).remove)
        for (const { id, name, status, createdAt } of history.snapshots) {
          if (status === 'failed') continue
          if (name !== null) expect(named.has(id)).toBe(false)
          if (createdAt > nowMs - olderThanMs) expect(old.has(id)).toBe(false)
        }
      }),
    )
  })

  test('removes nothing more when it is planned again', () => {
    fc.assert(
      fc.property(anyHistory, anyRules, (history, rules) => {
        const removed = new Set(planPrune(history, rules).remove)
        const left = history.snapshots.filter(({ id }) => !removed.has(id))
        expect(planPrune({ ...history, snapshots: left }, rules).remove).toEqual([])
      }),
    )
  })

  test('keeps only the head of a running environment, if snapshots stand for themselves', () => {
    const chain = [someSnapshot(1, null), someSnapshot(2, 1), someSnapshot(3, 2)]
    const history = standalone(historyOf(chain, [environmentAt(1, 3)]))
    const { remove, kept } = planPrune(history, { keepLast: 1 })
    expect(remove).toEqual([snapshotId(2), snapshotId(1)])
    expect(kept.map(({ id }) => id)).toEqual([snapshotId(3)])
  })

  test('keeps the newest of each environment', () => {
    const other = { environmentId: environmentId(2) }
    const snapshots = [
      someSnapshot(1, null),
      someSnapshot(2, null),
      someSnapshot(3, null),
      someSnapshot(4, null, other),
    ]
    const { remove, kept } = planPrune(historyOf(snapshots), { keepLast: 2 })
    expect(remove).toEqual([snapshotId(1)])
    expect(kept.map(({ reason }) => reason.kind)).toEqual(['recent', 'recent', 'recent'])
  })

  test('says why each one stays', () => {
    const snapshots = [
      someSnapshot(1, null),
      someSnapshot(2, 1),
      someSnapshot(3, 2),
      someSnapshot(4, null, { name: parseName('gold') }),
      someSnapshot(5, 4, { createdAt: nowMs - minuteMs }),
      someSnapshot(6, null),
    ]
    const history = historyOf(snapshots, [environmentAt(1, 2)])
    const plan = planPrune(history, { keepNamed: true, olderThanMs: 2 * minuteMs })
    expect(plan.remove).toEqual([snapshotId(3), snapshotId(6)])
    expect(plan.kept).toEqual([
      { id: snapshotId(1), reason: { kind: 'base', snapshot: snapshotId(2) } },
      { id: snapshotId(2), reason: { kind: 'head', environment: environmentId(1) } },
      { id: snapshotId(4), reason: { kind: 'named' } },
      { id: snapshotId(5), reason: { kind: 'young' } },
    ])
  })

  test('removes failed snapshots, whatever the rules say', () => {
    const failed = someSnapshot(1, null, { status: 'failed', name: parseName('gold') })
    const rules = { keepNamed: true, keepLast: 9, olderThanMs: nowMs }
    expect(planPrune(historyOf([failed]), rules).remove).toEqual([failed.id])
  })

  test('works for a chain of ten thousand', () => {
    const chain = Array.from({ length: 10_000 }, (_, at) =>
      someSnapshot(at, at === 0 ? null : at - 1),
    )
    expect(planPrune(historyOf(chain)).remove).toHaveLength(10_000)
    expect(planPrune(historyOf(chain, [environmentAt(1, 9_999)])).remove).toEqual([])
  })
})
