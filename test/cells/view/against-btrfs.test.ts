import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { changesBetween } from '../../../src/backends/native/overlay/view/changes/changes.ts'
import { sentCandidates } from '../../../src/backends/native/overlay/view/changes/sent/sent-candidates.ts'
import type { NativeView } from '../../../src/backends/native/overlay/view/native-view.ts'
import { unless } from '../../support/evidence.ts'
import { bruteChanges, readTree } from './kernel-tree.ts'
import { ids, whyNoLayers } from './overlay-lab.ts'
import { doAll, tree, type Work, works } from './random-work.ts'
import { SubvolumeLab, whyNoSubvolumes } from './subvolume-lab.ts'

const budgetMs = Number(process.env.FORKPOINT_TEST_SECONDS ?? 20) * 1000

/** A base, what an environment does before a snapshot and after it, and what a fork of that does. */
interface History {
  readonly base: Work[]
  readonly before: Work[]
  readonly after: Work[]
  readonly fork: Work[]
}

const history: fc.Arbitrary<History> = fc.record({
  base: tree,
  before: works(15),
  after: works(15),
  fork: works(10),
})

/** Asks btrfs, however little there is; a failure to tell fails the test. */
const ask = {
  quickEntries: 0,
  compare: (a: NativeView, b: NativeView) =>
    sentCandidates(a.subvolume?.path ?? '', b.subvolume?.path ?? ''),
}

/** An attribute is no change, but it makes one for btrfs. */
function giveAttributes(root: string): void {
  const names = readdirSync(root, { encoding: 'buffer' }).map((name) =>
    Buffer.concat([Buffer.from(`${root}/`), name]),
  )
  const script =
    'import os, sys\nfor p in sys.stdin.buffer.read().split(b"\\0"):\n  try: os.setxattr(p, "user.note", b"x")\n  except OSError: pass'
  execFileSync('python3', ['-c', script], {
    input: Buffer.concat(names.flatMap((n) => [n, Buffer.of(0)])),
  })
}

const exact = { ids, deletions: 'listed', renames: 'ignored' } as const

async function compareWithKernel(lab: SubvolumeLab, a: string, b: string): Promise<void> {
  const found = await changesBetween(lab.view(a), lab.view(b), { ...exact, ask })
  expect(found.map(({ path, kind }) => `${path} ${kind}`)).toEqual(
    bruteChanges(lab.show(a, readTree), lab.show(b, readTree)),
  )
}

async function compareWithScan(lab: SubvolumeLab, a: string, b: string): Promise<void> {
  const views = [lab.view(a), lab.view(b)] as const
  expect(await changesBetween(...views, { ...exact, ask })).toEqual(
    await changesBetween(...views, exact),
  )
  expect(await changesBetween(...views, { ids, ask })).toEqual(
    await changesBetween(...views, { ids }),
  )
}

describe('what btrfs says about two snapshots', unless(whyNoLayers ?? whyNoSubvolumes), () => {
  test('leads to exactly the changes that a full comparison finds', async () => {
    using lab = new SubvolumeLab()
    let pairs = 0
    await fc.assert(
      fc.asyncProperty(history, async (made) => {
        doAll(lab.newBase(), made.base)
        const live = lab.create()
        const [first, second] = lab.work(live, 'on', (root) => {
          doAll(root, made.before)
          const early = lab.snapshot(live)
          doAll(root, made.after)
          giveAttributes(root)
          return [early, lab.snapshot(live)]
        })
        const fork = lab.fork(first)
        lab.work(fork, 'off', (root) => doAll(root, made.fork))
        const third = lab.snapshot(fork)
        await compareWithKernel(lab, first, second)
        await compareWithScan(lab, second, first)
        await compareWithScan(lab, second, third)
        await compareWithScan(lab, third, first)
        pairs += 4
      }),
      { interruptAfterTimeLimit: budgetMs, markInterruptAsFailure: false, numRuns: 10_000 },
    )
    console.log(`compared ${pairs} pairs of random snapshots with the kernel's view`)
    expect(pairs).toBeGreaterThan(0)
  })
})
