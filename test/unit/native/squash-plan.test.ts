import { basename } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Layer } from '../../../src/backends/native/cell/cell.ts'
import { nameOf, squashedLayer } from '../../../src/backends/native/overlay/squash/layer-name.ts'
import {
  fanIn,
  planSquash,
  planSquashAll,
  substitute,
} from '../../../src/backends/native/overlay/squash/plan.ts'
import { snapshotId } from '../engine/histories.ts'

const sealed = (number: number): Layer => ({ path: `/layers/${snapshotId(number)}`, ids: 'cell' })
const base: readonly Layer[] = [
  { path: '/layers/agent-0123456789abcdef', ids: 'host' },
  { path: '/', ids: 'host' },
]
/** Sealed layers of these numbers, the highest on top, over a base. */
const chain = (count: number): Layer[] => [
  ...Array.from({ length: count }, (_, index) => sealed(count - index)),
  ...base,
]

/** What each squashed layer was made of, down to the sealed ones. */
class Contents {
  readonly #members = new Map<string, readonly Layer[]>()

  add(squashes: ReturnType<typeof planSquash>): void {
    for (const { layer, members } of squashes) this.#members.set(layer.path, members)
  }

  flat(layers: readonly Layer[]): string[] {
    return layers.flatMap((layer) => {
      const members = this.#members.get(layer.path)
      return members ? this.flat(members) : [layer.path]
    })
  }
}

describe('a plan to squash', () => {
  test('leaves a short chain alone, and makes one layer of sixteen', () => {
    expect(planSquash(chain(fanIn - 1))).toEqual([])
    const [squash, ...others] = planSquash(chain(fanIn))
    expect(others).toEqual([])
    expect(squash?.members).toEqual(chain(fanIn).slice(0, fanIn))
    expect(basename(squash?.layer.path ?? '')).toMatch(/^s00000000016\.16-[0-9a-f]{16}$/)
  })

  test('keeps a chain short that grows one by one and is squashed whenever it is due', () => {
    const contents = new Contents()
    let layers: readonly Layer[] = base
    const copies = new Map<string, number>()
    for (let number = 1; number <= 5000; number += 1) {
      layers = [sealed(number), ...layers]
      const squashes = planSquash(layers)
      contents.add(squashes)
      for (const { members } of squashes) {
        for (const path of contents.flat(members)) copies.set(path, (copies.get(path) ?? 0) + 1)
      }
      layers = substitute(layers, squashes)
      expect(layers.length - base.length).toBeLessThanOrEqual(4 * (fanIn - 1))
    }
    expect(contents.flat(layers)).toEqual(chain(5000).map(({ path }) => path))
    expect(Math.max(...copies.values())).toBe(3)
  })

  test('shows the same files in the same order, whatever is squashed when', () => {
    const steps = fc.array(
      fc.oneof(
        { weight: 8, arbitrary: fc.record({ grow: fc.integer({ min: 1, max: 40 }) }) },
        { weight: 2, arbitrary: fc.constant('squash' as const) },
        { weight: 1, arbitrary: fc.constant('squash-all' as const) },
      ),
      { maxLength: 30 },
    )
    fc.assert(
      fc.property(steps, (all) => {
        const contents = new Contents()
        let layers: readonly Layer[] = base
        let number = 0
        for (const step of all) {
          if (typeof step === 'object') {
            for (let end = number + step.grow; number < end; ) {
              number += 1
              layers = [sealed(number), ...layers]
            }
            continue
          }
          const squashes = step === 'squash-all' ? planSquashAll(layers) : planSquash(layers)
          contents.add(squashes)
          layers = substitute(layers, squashes)
          if (step === 'squash') expect(planSquash(layers)).toEqual([])
          else expect(layers.length - base.length).toBeLessThanOrEqual(1)
        }
        expect(contents.flat(layers)).toEqual(chain(number).map(({ path }) => path))
      }),
    )
  })

  test('gives branches of one chain the same squashed layers', () => {
    const trunk = chain(20)
    const branch = [sealed(101), sealed(100), ...trunk]
    expect(planSquash(branch)).toEqual(planSquash(trunk))
    const other = substitute(branch, planSquash(trunk))
    expect(other.map(({ path }) => path).slice(0, 3)).toEqual(
      [101, 100, 20].map((number) => sealed(number).path),
    )
  })

  test('does not touch a list that has only some of the members', () => {
    const squashes = planSquash(chain(fanIn))
    const older = chain(fanIn - 1)
    expect(substitute(older, squashes)).toBe(older)
  })

  test('tells squashed layers apart by what they are made of, and knows whose they are', () => {
    const [one, two] = [squashedLayer([sealed(2), sealed(1)]), squashedLayer([sealed(2)])]
    expect(one.path).not.toBe(two.path)
    expect(nameOf(squashedLayer([sealed(3), one]))).toEqual({ owner: snapshotId(3), count: 3 })
    expect(base.map(nameOf)).toEqual([null, null])
  })
})
