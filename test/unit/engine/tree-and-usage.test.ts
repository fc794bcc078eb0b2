import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { buildTree, type TreeNode, treeAround } from '../../../src/engine/history/tree.ts'
import { usageOf } from '../../../src/engine/history/usage.ts'
import { anyHistory, environmentAt, environmentId, snapshotId, someSnapshot } from './histories.ts'

/** The shape alone: `1[e1,2]` is snapshot 1 with environment 1 and snapshot 2 on it. */
function shapeOf(nodes: readonly TreeNode[]): string {
  return nodes
    .map((node) => {
      const number = Number(node.id.slice(1))
      if (node.kind === 'environment') return `e${number}`
      return node.children.length === 0 ? `${number}` : `${number}[${shapeOf(node.children)}]`
    })
    .join(',')
}

describe('the tree', () => {
  const snapshots = [
    someSnapshot(1, null),
    someSnapshot(2, 1),
    someSnapshot(3, 1),
    someSnapshot(4, 3),
    someSnapshot(7, null),
  ]
  const environments = [environmentAt(1, 4), environmentAt(2, 1), environmentAt(5, null)]

  test('has each snapshot on its parent and each environment on its head, oldest first', () => {
    expect(shapeOf(buildTree(snapshots, environments))).toBe('1[e2,2,3[4[e1]]],e5,7')
  })

  test('has forks of the same moment in the order of their names', () => {
    const forks = [3, 10, 2].map((number) => ({
      ...environmentAt(number, 1, `try-${number}`),
      createdAt: 0,
    }))
    expect(shapeOf(buildTree([someSnapshot(1, null)], forks))).toBe('1[e2,e3,e10]')
  })

  test('around one of them is the whole tree that it is part of', () => {
    const roots = buildTree(snapshots, environments)
    expect(shapeOf(treeAround(roots, snapshotId(2)))).toBe('1[e2,2,3[4[e1]]]')
    expect(shapeOf(treeAround(roots, environmentId(1)))).toBe('1[e2,2,3[4[e1]]]')
    expect(shapeOf(treeAround(roots, environmentId(5)))).toBe('e5')
  })

  test('has everything exactly once', () => {
    fc.assert(
      fc.property(anyHistory, ({ snapshots: some, environments: others }) => {
        const records = some.map((snapshot) => ({ ...someSnapshot(0, null), ...snapshot }))
        const heads = others.map((each) => ({ ...environmentAt(1, null), ...each }))
        const nodes = [...buildTree(records, heads)]
        for (const node of nodes) if (node.kind === 'snapshot') nodes.push(...node.children)
        const expected = [...records, ...heads].map(({ id }) => id)
        expect(nodes.map(({ id }) => id).sort()).toEqual(expected.sort())
      }),
    )
  })

  test('of a chain of ten thousand is no trouble', () => {
    const chain = Array.from({ length: 10_000 }, (_, at) =>
      someSnapshot(at, at === 0 ? null : at - 1),
    )
    expect(buildTree(chain, [])).toHaveLength(1)
  })
})

describe('usage', () => {
  const sizes = (filesBytes: number | null, imagesBytes: number) => ({
    sizes: { filesBytes, imagesBytes },
  })
  const [live] = [{ id: environmentId(1), name: null, status: 'running' as const }]

  test('tells what each snapshot added, shares with its ancestors, and has alone', () => {
    const { snapshots } = usageOf(
      [
        someSnapshot(1, null, sizes(1000, 10)),
        someSnapshot(2, 1, sizes(200, 20)),
        someSnapshot(3, 2, sizes(30, 1)),
      ],
      [],
      new Map(),
    )
    expect(
      snapshots.map(({ ownBytes, sharedBytes, uniqueBytes }) => [
        ownBytes,
        sharedBytes,
        uniqueBytes,
      ]),
    ).toEqual([
      [1010, 0, 10],
      [220, 1000, 20],
      [31, 1200, 31],
    ])
  })

  test('does not call files unique that an environment stands on', () => {
    const environment = { ...live, head: snapshotId(1), diskBytes: 5, memoryBytes: 7 }
    const { snapshots, totals } = usageOf(
      [someSnapshot(1, null, sizes(1000, 10))],
      [environment],
      new Map(),
    )
    expect(snapshots[0]?.uniqueBytes).toBe(10)
    expect(totals).toEqual({
      snapshotBytes: 1010,
      environmentBytes: 5,
      memoryBytes: 7,
      uncounted: 0,
    })
  })

  test('counts memory that snapshots have in common once, for the one that wrote it', () => {
    const file = (name: string, bytes: number, holders: number, own: boolean) => ({
      ...{ name, bytes, holders, own },
    })
    const { snapshots, totals } = usageOf(
      [someSnapshot(1, null, sizes(5, 0)), someSnapshot(2, 1, sizes(3, 0))],
      [],
      new Map([
        [
          snapshotId(1),
          { imagesBytes: 10, pages: [file('a', 1000, 2, true), file('b', 70, 1, true)] },
        ],
        [
          snapshotId(2),
          {
            imagesBytes: 20,
            // What wrote `c` is gone: nobody else has it any more.
            pages: [file('a', 1000, 2, false), file('c', 400, 1, false), file('d', 200, 1, true)],
          },
        ],
      ]),
    )
    expect(
      snapshots.map(({ imagesBytes, ownBytes, sharedBytes, uniqueBytes }) => [
        ...[imagesBytes, ownBytes, sharedBytes, uniqueBytes],
      ]),
    ).toEqual([
      [1080, 1085, 0, 80],
      [220, 223, 1405, 623],
    ])
    expect(totals.snapshotBytes).toBe(5 + 3 + 10 + 20 + 1000 + 70 + 400 + 200)
  })

  test('says unknown where files were not counted yet', () => {
    const { snapshots, totals } = usageOf(
      [someSnapshot(1, null, sizes(null, 10)), someSnapshot(2, 1, sizes(200, 20))],
      [],
      new Map(),
    )
    expect(snapshots.map(({ ownBytes, sharedBytes }) => [ownBytes, sharedBytes])).toEqual([
      [null, 0],
      [220, null],
    ])
    expect(totals).toMatchObject({ snapshotBytes: 230, uncounted: 1 })
  })
})
