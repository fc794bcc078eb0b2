import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { TreeNode } from '../../../src/api/contract/data/store.ts'
import { buildTree, treeAround } from '../../../src/engine/history/tree.ts'
import { usageOf } from '../../../src/engine/history/usage.ts'
import { anyHistory, environmentAt, environmentId, snapshotId, someSnapshot } from './histories.ts'

/** Only the shape: `1[e1,2]` is snapshot 1 with environment 1 and snapshot 2 on it. */
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

  test('puts each snapshot on its parent and each environment on its head, oldest first', () => {
    expect(shapeOf(buildTree(snapshots, environments))).toBe('1[e2,2,3[4[e1]]],e5,7')
  })

  test('sorts forks of the same moment by name', () => {
    const forks = [3, 10, 2].map((number) => ({
      ...environmentAt(number, 1, `try-${number}`),
      createdAt: 0,
    }))
    expect(shapeOf(buildTree([someSnapshot(1, null)], forks))).toBe('1[e2,e3,e10]')
  })

  test('of one node is the whole tree that it is part of', () => {
    const roots = buildTree(snapshots, environments)
    expect(shapeOf(treeAround(roots, snapshotId(2)))).toBe('1[e2,2,3[4[e1]]]')
    expect(shapeOf(treeAround(roots, environmentId(1)))).toBe('1[e2,2,3[4[e1]]]')
    expect(shapeOf(treeAround(roots, environmentId(5)))).toBe('e5')
  })

  test('contains everything exactly once', () => {
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

  test('works for a chain of ten thousand', () => {
    const chain = Array.from({ length: 10_000 }, (_, at) =>
      someSnapshot(at, at === 0 ? null : at - 1),
    )
    expect(buildTree(chain, [])).toHaveLength(1)
  })
})

describe('usage', () => {
  const used = (
    number: number,
    layers: readonly string[],
    [filesBytes, imagesBytes]: [number | null, number],
    squashed?: Record<string, number>,
  ) => ({
    ...someSnapshot(number, null),
    sizes: { filesBytes, imagesBytes, ...(squashed && { squashed }) },
    layers,
    held: { imagesBytes, pages: [] },
  })
  const [one, two, three] = [snapshotId(1), snapshotId(2), snapshotId(3)]
  const figures = ({ snapshots }: ReturnType<typeof usageOf>) =>
    snapshots.map(({ ownBytes, sharedBytes, uniqueBytes }) => [ownBytes, sharedBytes, uniqueBytes])

  test('shows what each snapshot added, shares with its ancestors, and has to itself', () => {
    const usage = usageOf(
      [
        used(1, [one], [1000, 10]),
        used(2, [two, one], [200, 20]),
        used(3, [three, two, one], [30, 1]),
      ],
      [],
    )
    expect(figures(usage)).toEqual([
      [1010, 0, 10],
      [220, 1000, 20],
      [31, 1200, 31],
    ])
  })

  test('counts squashed layers with the snapshot they end with, in addition to what they were made of', () => {
    const squashed = `${two}.2-0123456789abcdef`
    const usage = usageOf(
      [
        used(1, [one], [1000, 10]),
        used(2, [squashed], [200, 20], { [squashed]: 1100 }),
        used(3, [three, squashed], [30, 1]),
      ],
      [],
    )
    expect(figures(usage)).toEqual([
      [1010, 0, 1010],
      [1320, 0, 220],
      [31, 1100, 31],
    ])
    expect(usage.totals.snapshotBytes).toBe(1010 + 1320 + 31)
  })

  test('does not call files unique that an environment needs', () => {
    const environment = {
      id: environmentId(1),
      name: null,
      status: 'running' as const,
      diskBytes: 5,
      memoryBytes: 7,
      layers: [one],
    }
    const { snapshots, totals } = usageOf([used(1, [one], [1000, 10])], [environment], {
      sparesBytes: 3,
    })
    expect(snapshots[0]?.uniqueBytes).toBe(10)
    expect(totals).toEqual({
      snapshotBytes: 1010,
      environmentBytes: 5,
      containerImageBytes: 0,
      memoryBytes: 10,
      sparesBytes: 3,
      uncounted: 0,
    })
  })

  test('counts memory that snapshots share only once, for the one that wrote it', () => {
    const file = (name: string, bytes: number, holders: number, own: boolean) => ({
      name,
      bytes,
      holders,
      own,
    })
    const { snapshots, totals } = usageOf(
      [
        {
          ...used(1, [one], [5, 0]),
          held: { imagesBytes: 10, pages: [file('a', 1000, 2, true), file('b', 70, 1, true)] },
        },
        {
          ...used(2, [two, one], [3, 0]),
          held: {
            imagesBytes: 20,
            // The snapshot that wrote `c` is gone, so nothing else has it.
            pages: [file('a', 1000, 2, false), file('c', 400, 1, false), file('d', 200, 1, true)],
          },
        },
      ],
      [],
    )
    expect(
      snapshots.map(({ imagesBytes, ownBytes, sharedBytes, uniqueBytes }) => [
        imagesBytes,
        ownBytes,
        sharedBytes,
        uniqueBytes,
      ]),
    ).toEqual([
      [1080, 1085, 0, 80],
      [220, 223, 1405, 623],
    ])
    expect(totals.snapshotBytes).toBe(5 + 3 + 10 + 20 + 1000 + 70 + 400 + 200)
  })

  test('says unknown if files were not counted yet', () => {
    const usage = usageOf([used(1, [one], [null, 10]), used(2, [two, one], [200, 20])], [])
    expect(figures(usage)).toEqual([
      [null, 0, 10],
      [220, null, 220],
    ])
    expect(usage.totals).toMatchObject({ snapshotBytes: 230, uncounted: 1 })
  })
})
