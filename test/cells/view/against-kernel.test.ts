import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { textToBytes } from '../../../src/agent/files/byte-text.ts'
import { changesBetween } from '../../../src/backends/native/overlay/view/changes/changes.ts'
import { list, lookup } from '../../../src/backends/native/overlay/view/entries.ts'
import type { NativeView } from '../../../src/backends/native/overlay/view/native-view.ts'
import { unless } from '../../support/evidence.ts'
import { bruteChanges, readTree } from './kernel-tree.ts'
import { ids, OverlayLab, whyNoLayers } from './overlay-lab.ts'
import { doAll, tree, type Work, works } from './random-work.ts'

const budgetMs = Number(process.env.FORKPOINT_TEST_SECONDS ?? 12) * 1000

/** A base, a trunk of layers, and two branches from some height of it. */
interface History {
  readonly base: Work[]
  readonly trunk: Work[][]
  readonly a: Work[][]
  readonly b: Work[][]
}

const history: fc.Arbitrary<History> = fc.record({
  base: tree,
  trunk: fc.array(works(10), { maxLength: 2 }),
  a: fc.array(works(10), { maxLength: 2 }),
  b: fc.array(works(10), { maxLength: 2 }),
})

function build(lab: OverlayLab, { base, trunk, a, b }: History): [NativeView, NativeView] {
  const grow = (from: NativeView, layers: Work[][]) =>
    layers.reduce((view, each) => lab.grow(view, (root) => doAll(root, each)), from)
  const root = grow(
    lab.base((dir) => doAll(dir, base)),
    trunk,
  )
  return [grow(root, a), grow(root, b)]
}

async function listing(view: NativeView): Promise<string[]> {
  const lines: string[] = []
  for await (const entry of list(view, ['/'])) lines.push(describeEntry(entry))
  return lines.sort()
}

function describeEntry(entry: {
  path: string
  type: string
  mode: number
  uid: number
  target: string
  size: number
}): string {
  const size = entry.type === 'file' ? entry.size : 0
  return `${entry.path} ${entry.type} ${entry.mode} ${entry.uid} ${entry.target} ${size}`
}

function kernelListing(root: string): string[] {
  const entries = [...readTree(root)].map(([path, { type, mode, uid, content }]) => {
    const target = type === 'symlink' ? content : ''
    return describeEntry({ path, type, mode, uid, target, size: content.length })
  })
  return entries.sort()
}

describe('layers read without mounting them', unless(whyNoLayers), () => {
  test('contain what the kernel shows', async () => {
    await fc.assert(
      fc.asyncProperty(history, async (made) => {
        using lab = new OverlayLab()
        const [view] = build(lab, made)
        const expected = lab.show(view, kernelListing)
        expect(await listing(view)).toEqual(expected)
        const paths = [
          ...lab.show(view, readTree).keys(),
          '/a/b/c',
          '/b/a',
          '/c',
          '/nothing',
        ].sort()
        const found = await lookup(view, paths)
        const there = found.flatMap((entry) => (entry ? [describeEntry(entry)] : []))
        expect([...new Set(there)].sort()).toEqual(expected)
      }),
      { interruptAfterTimeLimit: budgetMs, markInterruptAsFailure: false, numRuns: 10_000 },
    )
  })

  test('differ exactly where a full comparison says so', async () => {
    let runs = 0
    await fc.assert(
      fc.asyncProperty(history, async (made) => {
        using lab = new OverlayLab()
        const [a, b] = build(lab, made)
        const before = lab.show(a, readTree)
        const after = lab.show(b, readTree)
        const found = await changesBetween(a, b, {
          ids,
          deletions: 'listed',
          renames: 'ignored',
        })
        expect(found.map(({ path, kind }) => `${path} ${kind}`)).toEqual(
          bruteChanges(before, after),
        )
        const bytes = found.reduce((sum, { sizeDelta }) => sum + sizeDelta, 0)
        expect(bytes).toBe(total(after) - total(before))
        runs += 1
      }),
      { interruptAfterTimeLimit: budgetMs, markInterruptAsFailure: false, numRuns: 10_000 },
    )
    console.log(`compared ${runs} pairs of random histories with the kernel's view`)
  })
})

function total(tree: ReturnType<typeof readTree>): number {
  const sizes = [...tree.values()].map(({ type, content }) =>
    type === 'directory' ? 0 : type === 'symlink' ? textToBytes(content).length : content.length,
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}
