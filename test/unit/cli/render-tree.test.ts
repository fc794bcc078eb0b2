import { describe, expect, test } from 'vitest'
import { plain } from '../../../src/cli/render/layout/style.ts'
import { renderTree } from '../../../src/cli/render/tree.ts'
import { buildTree } from '../../../src/engine/history/tree.ts'
import type { SnapshotRecord } from '../../../src/model/snapshot.ts'
import { parseName } from '../../../src/model/values/names.ts'
import { environmentAt, environmentId, minuteMs, someSnapshot } from '../engine/histories.ts'

const nowMs = 60 * minuteMs
const full = { captured: ['filesystem', 'processes', 'terminal'] } as const

/** Environment 10 is `web`. Number 20 was forked from its first snapshot, and 30 from the fork. */
const snapshots: readonly SnapshotRecord[] = [
  of(10, 1, null, { name: parseName('ready'), message: 'deps installed' }),
  of(10, 2, 1, { by: 'fork' }),
  of(20, 3, 1, { captured: ['filesystem'] }),
  of(20, 4, 3, { sizes: { filesBytes: null, imagesBytes: 10 }, by: 'fork' }),
  of(10, 5, 2, { status: 'failed' }),
]
const environments = [
  environmentAt(10, 5, 'web'),
  environmentAt(20, 4, 'best'),
  environmentAt(30, 4, 'other'),
  environmentAt(13, null, 'new'),
]
const roots = buildTree(snapshots, environments)

function of(environment: number, number: number, parent: number | null, more = {}) {
  return someSnapshot(number, parent, {
    ...full,
    environmentId: environmentId(environment),
    ...more,
  })
}

const shown = (columns: number | undefined) =>
  renderTree(roots, { nowMs, columns }, plain).split('\n')

describe('the tree on the screen', () => {
  test('lets the line of an environment run straight down, and connects everything', () => {
    expect(shown(undefined)).toEqual([
      '┌─● ready             s00000000001  59m  110 B  deps installed',
      '│ └─┬─● s00000000003                57m  110 B  files only',
      '│   ├─● s00000000004                56m  not counted yet  taken to fork',
      '│   │ └───▸ other     e00000000030  30m  running',
      '│   └─▸ best          e00000000020  40m  running',
      '├─● s00000000002                    58m  110 B  taken to fork',
      '├─● s00000000005                    55m  failed',
      '└─▸ web               e00000000010  50m  running',
      '',
      '──▸ new               e00000000013  47m  running',
    ])
  })

  test('says why there are snapshots that nobody named', () => {
    const makers = ['user', 'fork', 'promote', 'pause'] as const
    const chain = makers.map((by, at) => of(10, at + 1, at === 0 ? null : at, { by }))
    const lines = renderTree(buildTree(chain, []), { nowMs, columns: undefined }, plain)
    expect(lines.split('\n').map((line) => line.replace(/.*110 B\s*/, ''))).toEqual([
      '',
      'taken to fork',
      'taken to promote',
      'taken to release memory',
    ])
  })

  test('does not move what is there when it grows', () => {
    const steps = snapshots.map((_, at) => snapshots.slice(0, at + 1))
    const columnOf = (known: readonly SnapshotRecord[], id: string) => {
      const heads = environments.filter(({ head }) => known.some((each) => each.id === head))
      const lines = renderTree(buildTree(known, heads), { nowMs, columns: undefined }, plain)
      const line = lines.split('\n').find((each) => each.includes(id)) ?? ''
      return line.indexOf('●')
    }
    for (const known of steps) {
      for (const { id } of known) expect(columnOf(known, id)).toBe(columnOf(snapshots, id))
    }
    const alone = renderTree(buildTree([], environments.slice(3)), { nowMs, columns: 80 }, plain)
    expect(alone.indexOf('▸')).toBe(2)
  })

  test('drops ids before sizes', () => {
    const wide = shown(undefined)
    const most = Math.max(
      ...wide.slice(0, 8).map((line) => line.replace(/ {2}(deps|taken|files).*/, '').length),
    )
    expect(shown(most)[0]).toContain('s00000000001')
    const narrow = shown(most - 1)
    expect(narrow[0]).toBe('┌─● ready             59m  110 B  deps installed')
    expect(narrow[3]).toBe('│   │ └───▸ other     30m  running')
    expect(narrow[1]).toContain('s00000000003')
  })

  test.each([1, 10, 20, 40])('is never wider than a terminal of %i columns', (columns) => {
    const lines = shown(columns)
    expect(Math.max(...lines.map((line) => [...line].length))).toBeLessThanOrEqual(columns)
    expect(lines).toHaveLength(10)
  })

  test('of a chain of thousands does not drift to the right', () => {
    const chain = Array.from({ length: 3000 }, (_, at) =>
      someSnapshot(at, at === 0 ? null : at - 1),
    )
    const lines = renderTree(buildTree(chain, []), { nowMs, columns: 80 }, plain).split('\n')
    expect(lines).toHaveLength(3000)
    expect(lines.every((line) => /^[┌├└]─● s/.test(line))).toBe(true)
  })
})
