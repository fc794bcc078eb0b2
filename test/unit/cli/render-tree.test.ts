import { describe, expect, test } from 'vitest'
import { plain } from '../../../src/cli/render/layout/style.ts'
import { renderTree } from '../../../src/cli/render/tree.ts'
import { buildTree } from '../../../src/engine/history/tree.ts'
import { parseName } from '../../../src/model/values/names.ts'
import { environmentAt, minuteMs, someSnapshot } from '../engine/histories.ts'

const nowMs = 60 * minuteMs
const full = { captured: ['filesystem', 'processes', 'terminal'] } as const
const roots = buildTree(
  [
    someSnapshot(1, null, { ...full, name: parseName('ready'), message: 'deps installed' }),
    someSnapshot(2, 1, full),
    someSnapshot(3, 1),
    someSnapshot(4, 3, { ...full, sizes: { filesBytes: null, imagesBytes: 10 } }),
    someSnapshot(5, 2, { ...full, status: 'failed' }),
  ],
  [
    environmentAt(10, 1, 'web'),
    environmentAt(11, 5),
    environmentAt(12, 4, 'best'),
    environmentAt(13, null, 'new'),
  ],
)

describe('the tree on the screen', () => {
  test('shows branches to the side and the newest line of snapshots straight down', () => {
    expect(renderTree(roots, { nowMs, columns: undefined }, plain)).toBe(
      [
        '● ready             s00000000001  59m  110 B  deps installed',
        '├─▸ web             e00000000010  50m  running',
        '├─● s00000000002                  58m  110 B',
        '│ ● s00000000005                  55m  failed',
        '│ └─▸ e00000000011                49m  running',
        '● s00000000003                    57m  110 B  files only',
        '● s00000000004                    56m  not counted yet',
        '└─▸ best            e00000000012  48m  running',
        '',
        '▸ new               e00000000013  47m  running',
      ].join('\n'),
    )
  })

  test.each([1, 10, 20, 40])('is never wider than a terminal of %i columns', (columns) => {
    const lines = renderTree(roots, { nowMs, columns }, plain).split('\n')
    expect(Math.max(...lines.map((line) => [...line].length))).toBeLessThanOrEqual(columns)
    expect(lines).toHaveLength(10)
  })

  test('of a chain of thousands does not drift to the right', () => {
    const chain = Array.from({ length: 3000 }, (_, at) =>
      someSnapshot(at, at === 0 ? null : at - 1),
    )
    const lines = renderTree(buildTree(chain, []), { nowMs, columns: 80 }, plain).split('\n')
    expect(lines).toHaveLength(3000)
    expect(lines.every((line) => line.startsWith('● s'))).toBe(true)
  })
})
