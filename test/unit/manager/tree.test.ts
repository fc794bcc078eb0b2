import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatSnapshotTree, type LoggedCommand, type ManagedSnapshot } from '../../../src/index.ts'
import { labelsOf, newVirtualId, virtualIn } from '../../../src/manager/tree/labels.ts'
import { findIn, planOf } from '../../../src/manager/tree/tree.ts'
import { newSnapshotId, type SnapshotId } from '../../../src/model/ids.ts'

const ran = (command: string): LoggedCommand => ({
  command,
  options: {},
  exitCode: 0,
  signal: null,
  stdout: 'a'.repeat(64),
  stderr: 'b'.repeat(64),
  durationMs: 1,
})

const base = { name: null, message: '', createdAt: 0, bytes: 0 }

function physical(parent: string | null): ManagedSnapshot & { id: SnapshotId } {
  return { kind: 'physical', id: newSnapshotId(), parent, ...base }
}

function virtual(parent: ManagedSnapshot, ...commands: string[]): ManagedSnapshot {
  const on = parent.kind === 'physical' ? parent.id : parent.on
  return {
    kind: 'virtual',
    id: newVirtualId(),
    parent: parent.id,
    on,
    ...base,
    commands: commands.map(ran),
  }
}

const replays = new Map()

describe('the plan to get to a snapshot', () => {
  test('begins at the nearest physical one and has every command after it, in order', () => {
    const root = physical(null)
    const one = virtual(root, 'a', 'b')
    const two = virtual(one, 'c')
    const other = virtual(one, 'x')
    const nodes = [root, one, two, other]
    const { from, commands } = planOf({ nodes, replays }, two)
    expect(from).toBe(root.id)
    expect(commands.map(({ command }) => command)).toEqual(['a', 'b', 'c'])
    expect(planOf({ nodes, replays }, root)).toEqual({ from: root.id, commands: [] })
  })

  test('has exactly the commands between, whatever the tree', () => {
    const choices = fc.array(fc.tuple(fc.nat(), fc.boolean(), fc.string()), { maxLength: 40 })
    fc.assert(
      fc.property(choices, (given) => {
        const nodes: ManagedSnapshot[] = [physical(null)]
        const expected = new Map<string, string[]>([[nodes[0]?.id ?? '', []]])
        for (const [choice, isPhysical, command] of given) {
          const parent = nodes[choice % nodes.length]
          if (parent === undefined) throw new Error('no parent')
          const node = isPhysical ? physical(parent.id) : virtual(parent, command)
          nodes.push(node)
          expected.set(node.id, isPhysical ? [] : [...(expected.get(parent.id) ?? []), command])
        }
        for (const node of nodes) {
          const { commands } = planOf({ nodes, replays }, node)
          expect(commands.map(({ command }) => command)).toEqual(expected.get(node.id))
        }
      }),
    )
  })

  test('does not exist if the physical one is gone', () => {
    const root = physical(null)
    const one = virtual(root, 'a')
    expect(() => planOf({ nodes: [one], replays }, one)).toThrow(/no longer exists/)
  })
})

describe('the labels of a virtual snapshot', () => {
  test('hold all of it, whatever the commands', () => {
    const command = fc.oneof(fc.string({ unit: 'binary' }), fc.array(fc.string(), { minLength: 1 }))
    const commands = fc.array(
      fc.record({ command, exitCode: fc.option(fc.nat(255)), durationMs: fc.nat() }),
    )
    fc.assert(
      fc.property(
        commands,
        fc.string(),
        fc.integer({ min: 0, max: 3000 }),
        (given, message, padding) => {
          const root = physical(null)
          const node = {
            kind: 'virtual' as const,
            id: newVirtualId(),
            on: root.id,
            parent: root.id,
            name: null,
            message: message + 'é😀'.repeat(padding),
            createdAt: 7,
            commands: given.map((each) => ({ ...ran(''), ...each })),
          }
          const labels = labelsOf(node) ?? {}
          for (const text of Object.values(labels)) expect(text.length).toBeLessThanOrEqual(4096)
          const [read, ...more] = virtualIn(root.id, { other: 'label', ...labels })
          expect(more).toEqual([])
          expect(read).toMatchObject({ ...node, message: node.message.toWellFormed() })
        },
      ),
      { numRuns: 50 },
    )
  })

  test('that somebody changed are an error with a remedy', () => {
    const root = physical(null)
    const labels = { 'forkpoint.virtual.v0123456789a.0': '{"name":1}' }
    expect(() => virtualIn(root.id, labels)).toThrow(/cannot be read/)
  })

  test('do not take more than the store accepts', () => {
    const root = physical(null)
    const node = virtual(root, 'x'.repeat(5_000_000))
    expect(node.kind === 'virtual' && labelsOf(node)).toBe(null)
  })
})

describe('a snapshot is found', () => {
  const root = physical(null)
  const named = { ...virtual(root, 'a'), name: 'ready' }
  const tree = { nodes: [root, named], replays }

  test('by id, unique beginning of an id, or name', () => {
    expect(findIn(tree, root.id)).toBe(root)
    expect(findIn(tree, 'ready')).toBe(named)
    expect(findIn(tree, named.id.slice(0, 6))).toBe(named)
  })

  test('or not, with a remedy', () => {
    expect(() => findIn(tree, 'v')).toThrow(/no snapshot "v"/)
    expect(() => findIn(tree, 'other')).toThrow(/no snapshot "other"/)
  })
})

test('the tree shows both kinds, and the branches where they are', () => {
  const root = { ...physical(null), name: 'root' }
  const left = { ...virtual(root, 'a'), name: 'left' }
  const right = { ...virtual(root, 'b', 'c'), name: 'right' }
  const branch = { environment: 'e', status: 'running' as const }
  const text = formatSnapshotTree(
    [root, left, right],
    [
      { id: 'main', base: right.id, current: true, ...branch },
      { id: 'try', base: root.id, current: false, ...branch },
    ],
  )
  expect(text.split('\n')).toEqual([
    `● root (${root.id})  0 B  ▸ try`,
    `├─○ left (${left.id})  virtual, 1 command`,
    `○ right (${right.id})  virtual, 2 commands  ▸ main *`,
  ])
})
