import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Layer } from '../../../src/backends/native/cell/cell.ts'
import {
  planSquash,
  planSquashAll,
  substitute,
} from '../../../src/backends/native/overlay/squash/plan.ts'
import { alignLayers } from '../../../src/backends/native/overlay/view/changes/align.ts'
import { splitLayers } from '../../../src/backends/native/overlay/view/changes/candidates.ts'
import { snapshotId } from '../engine/histories.ts'

const base: Layer = { path: '/', ids: 'host' }
const sealed = (number: number): Layer => ({ path: `/layers/${snapshotId(number)}`, ids: 'cell' })

/** A trunk of sealed layers and a branch from it, topmost first. */
function stack(trunk: number, branch: readonly number[]): Layer[] {
  const numbers = [...Array.from({ length: trunk }, (_, index) => index + 1), ...branch]
  return [...numbers.map(sealed).reverse(), base]
}

describe('two stacks with some layers squashed', () => {
  test('have the same common layers as before', () => {
    const side = fc.record({
      trunk: fc.integer({ min: 0, max: 300 }),
      branch: fc.integer({ min: 0, max: 20 }),
      squashed: fc.constantFrom('not' as const, 'some' as const, 'all' as const),
    })
    fc.assert(
      fc.property(side, side, (one, other) => {
        const members = new Map<string, readonly Layer[]>()
        const make = ({ trunk, branch, squashed }: typeof one, from: number) => {
          const raw = stack(
            trunk,
            Array.from({ length: branch }, (_, index) => from + index),
          )
          const plan = { not: () => [], some: planSquash, all: planSquashAll }[squashed]
          const squashes = plan(raw)
          for (const squash of squashes) members.set(squash.layer.path, squash.members)
          return { raw, layers: substitute(raw, squashes) }
        }
        const [a, b] = [make(one, 1000), make(other, 2000)]
        const membersOf = (layer: Layer) => members.get(layer.path) ?? null
        const flat = (layers: readonly Layer[]): Layer[] =>
          layers.flatMap((layer) => {
            const below = membersOf(layer)
            return below === null ? [layer] : flat(below)
          })
        const [left, right] = alignLayers(a.layers, b.layers, membersOf)
        expect([flat(left), flat(right)]).toEqual([a.raw, b.raw])
        const { common } = splitLayers(left, right)
        expect(flat(common)).toEqual(splitLayers(a.raw, b.raw).common)
      }),
    )
  })
})
