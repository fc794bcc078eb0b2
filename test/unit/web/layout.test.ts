import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type FlatNode, type ForestNode, growForest } from '../../../web/src/forest/forest.ts'
import { layoutRows } from '../../../web/src/forest/layout.ts'
import { foundBy, noFilter } from '../../../web/src/forest/search.ts'

const everything = { folded: new Set<never>(), found: null }

type Of<K extends ForestNode['kind']> = Extract<ForestNode, { kind: K }>

function snapshot(number: number, owner: number): Of<'snapshot'> {
  return {
    kind: 'snapshot',
    id: id('s', number) as Of<'snapshot'>['id'],
    environmentId: id('e', owner) as Of<'environment'>['id'],
    name: null,
    status: 'ready',
    createdAt: number,
    durable: true,
    message: `step ${number}`,
    captured: ['filesystem'],
    ownBytes: 1,
    labels: number % 2 === 0 ? { even: 'yes' } : {},
    by: 'user',
  }
}

function environment(number: number): Of<'environment'> {
  const own = id('e', number) as Of<'environment'>['id']
  return { kind: 'environment', id: own, name: null, status: 'running', createdAt: 1, labels: {} }
}

function id(letter: string, number: number): string {
  return `${letter}${String(number).padStart(11, '0')}`
}

/** Snapshots in which each grew from an earlier one, of its owner or of another, and an environment on the last. */
const forests = fc
  .array(fc.record({ above: fc.nat(), owner: fc.nat(4) }), { minLength: 1, maxLength: 60 })
  .map((list): FlatNode[] => {
    const nodes = list.map(({ above, owner }, index) => ({
      above: index === 0 ? null : above % index,
      node: snapshot(index, owner),
    }))
    const last = list.length - 1
    return [...nodes, { above: last, node: environment(list[last]?.owner ?? 0) }]
  })

describe('the layout of the tree', () => {
  test('has every node once, each below the one it grew from', () => {
    fc.assert(
      fc.property(forests, (list) => {
        const forest = growForest(list)
        const rows = layoutRows(forest, everything)
        expect(new Set(rows.map(({ node }) => node.id))).toEqual(new Set(forest.nodes.keys()))
        expect(rows.length).toBe(forest.nodes.size)
        rows.forEach(({ node, above, level }, index) => {
          const parent = above === null ? undefined : rows[above]
          expect(parent?.node.id).toBe(forest.parents.get(node.id))
          expect(above ?? -1).toBeLessThan(index)
          expect(level).toBe((parent?.level ?? 0) + 1)
        })
      }),
    )
  })

  test('never lets a line cross another: between a node and its child, nothing is on or left of its lane', () => {
    fc.assert(
      fc.property(forests, (list) => {
        const rows = layoutRows(growForest(list), everything)
        rows.forEach(({ above, lane }, index) => {
          const parent = above === null ? undefined : rows[above]
          if (parent === undefined || above === null) return
          expect([parent.lane, parent.lane + 1]).toContain(lane)
          for (const between of rows.slice(above + 1, index)) {
            expect(between.lane).toBeGreaterThan(parent.lane)
          }
        })
      }),
    )
  })

  test('an environment is the tip of the lane of its snapshots', () => {
    const forest = growForest([
      { above: null, node: snapshot(1, 1) },
      { above: 0, node: environment(2) },
      { above: 0, node: snapshot(2, 1) },
      { above: 2, node: environment(1) },
    ])
    const rows = layoutRows(forest, everything)
    expect(rows.map(({ node, lane }) => [node.id, lane])).toEqual([
      [id('s', 1), 0],
      [id('e', 2), 1],
      [id('s', 2), 0],
      [id('e', 1), 0],
    ])
  })

  test('folding hides everything below, and says how much', () => {
    fc.assert(
      fc.property(forests, (list) => {
        const forest = growForest(list)
        const [root] = forest.roots
        if (root === undefined) return
        const [row, ...others] = layoutRows(forest, { folded: new Set([root]), found: null })
        expect(others).toEqual([])
        expect(row).toMatchObject({ fold: 'folded', hidden: forest.nodes.size - 1 })
      }),
    )
  })

  test('a search shows what it found and the way to it', () => {
    fc.assert(
      fc.property(forests, (list) => {
        const forest = growForest(list)
        const found = foundBy(forest, { ...noFilter, label: 'even=yes' }) ?? new Set()
        const rows = layoutRows(forest, { folded: new Set(), found })
        const shown = new Set(rows.map(({ node }) => node.id))
        for (const each of found) {
          for (let at: typeof each | undefined = each; at; at = forest.parents.get(at))
            expect(shown.has(at)).toBe(true)
        }
        for (const row of rows) expect(row.isContext).toBe(!found.has(row.node.id))
      }),
    )
  })

  test('a chain of ten thousand is no problem for the stack', () => {
    const list = Array.from({ length: 10_000 }, (_, index) => ({
      above: index === 0 ? null : index - 1,
      node: snapshot(index, 1),
    }))
    expect(layoutRows(growForest(list), everything)).toHaveLength(10_000)
  })
})
