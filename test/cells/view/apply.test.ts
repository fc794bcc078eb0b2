import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { saveClaim, thisMachine } from '../../../src/api/host/apply/claim-file.ts'
import type { Step } from '../../../src/api/host/apply/plan.ts'
import { planPath, savePlan } from '../../../src/api/host/apply/plan-file.ts'
import { newStagingName } from '../../../src/api/host/apply/staging.ts'
import { TargetDirectory } from '../../../src/api/host/apply/target-directory.ts'
import { applyTo } from '../../../src/api/host/apply.ts'
import type { NativeView } from '../../../src/backends/native/overlay/view/native-view.ts'
import { ConflictError, ForkpointError, ResourceError } from '../../../src/model/errors.ts'
import { unless } from '../../support/evidence.ts'
import { readTree } from './kernel-tree.ts'
import { applyView, labSource, stateDir } from './lab-copies.ts'
import { OverlayLab, whyNoLayers } from './overlay-lab.ts'
import { doAll, tree, works } from './random-work.ts'

const budgetMs = Number(process.env.FORKPOINT_TEST_SECONDS ?? 8) * 1000

/** A copy of the working directory of a base, as a person has it on the host. */
function checkout(lab: OverlayLab, base: NativeView): string {
  const target = lab.directory('target')
  execFileSync('cp', ['-a', `${base.layers[0]?.path}/w/.`, target])
  return target
}

function workspace(lab: OverlayLab): NativeView {
  return lab.base((root) => {
    mkdirSync(join(root, 'w/src/deep'), { recursive: true })
    for (const name of ['a', 'b', 'src/c', 'src/deep/d']) writeFileSync(join(root, 'w', name), name)
  })
}

describe('apply', unless(whyNoLayers), () => {
  test('makes the same changes to a directory as the environment made', async () => {
    await fc.assert(
      fc.asyncProperty(tree, works(12), async (before, after) => {
        using lab = new OverlayLab()
        const base = lab.base((root) => {
          mkdirSync(join(root, 'w'))
          doAll(join(root, 'w'), before)
        })
        const view = lab.grow(base, (root) => doAll(join(root, 'w'), after))
        const target = checkout(lab, base)
        const spec = { from: base, to: view, workdir: '/w' }
        await applyView(lab, spec, target)
        const inside = lab.show(view, (root) => readTree(join(root, 'w')))
        expect(essence(readTree(target))).toEqual(essence(inside))
        // Doing it again is neither a change nor a conflict.
        expect(await applyView(lab, spec, target)).toMatchObject({
          changes: [],
        })
      }),
      { interruptAfterTimeLimit: budgetMs, markInterruptAsFailure: false, numRuns: 10_000 },
    )
  })

  test('lists every conflict and changes nothing', async () => {
    using lab = new OverlayLab()
    const base = workspace(lab)
    const view = lab.grow(base, (root) => {
      const w = join(root, 'w')
      writeFileSync(join(w, 'a'), 'theirs')
      writeFileSync(join(w, 'new'), 'theirs')
      rmSync(join(w, 'src'), { recursive: true })
      writeFileSync(join(w, 'b'), 'fits')
    })
    const target = checkout(lab, base)
    writeFileSync(join(target, 'a'), 'mine')
    writeFileSync(join(target, 'new'), 'mine')
    writeFileSync(join(target, 'src/unknown'), 'mine')
    const before = readTree(target)
    const spec = { from: base, to: view, workdir: '/w' }
    const plan = await applyView(lab, spec, target, { mode: 'plan' })
    expect(plan.conflicts).toEqual([
      { path: 'a', reason: 'changed' },
      { path: 'new', reason: 'exists' },
      { path: 'src/unknown', reason: 'unknown' },
    ])
    const run = applyView(lab, spec, target)
    await expect(run).rejects.toMatchObject({
      name: 'ConflictError',
      detail: { conflicts: plan.conflicts },
    })
    expect(readTree(target)).toEqual(before)
  })

  test('never follows a symlink in the target', async () => {
    using lab = new OverlayLab()
    const base = workspace(lab)
    const view = lab.grow(base, (root) => writeFileSync(join(root, 'w/src/c'), 'theirs'))
    const target = checkout(lab, base)
    const elsewhere = lab.directory('elsewhere')
    writeFileSync(join(elsewhere, 'c'), 'src/c')
    rmSync(join(target, 'src'), { recursive: true })
    symlinkSync(elsewhere, join(target, 'src'))
    const spec = { from: base, to: view, workdir: '/w' }
    await expect(applyView(lab, spec, target)).rejects.toThrow('blocked')
    expect(readFileSync(join(elsewhere, 'c'), 'utf8')).toBe('src/c')
  })

  test('a replaced file keeps its owner and mode on the host', async () => {
    using lab = new OverlayLab()
    const base = workspace(lab)
    const view = lab.grow(base, (root) => {
      writeFileSync(join(root, 'w/a'), 'theirs')
      chmodSync(join(root, 'w/b'), 0o755)
    })
    const target = checkout(lab, base)
    execFileSync('chown', ['7:8', join(target, 'a')])
    chmodSync(join(target, 'a'), 0o640)
    await applyView(lab, { from: base, to: view, workdir: '/w' }, target)
    expect(statSync(join(target, 'a'))).toMatchObject({ uid: 7, gid: 8, mode: 0o100640 })
    expect(statSync(join(target, 'b')).mode & 0o777).toBe(0o755)
  })

  test('a full disk leaves the target as it was', async () => {
    using lab = new OverlayLab()
    const base = workspace(lab)
    const view = lab.grow(base, (root) => {
      writeFileSync(join(root, 'w/a'), 'theirs')
      writeFileSync(join(root, 'w/big'), Buffer.alloc(2 << 20, 1))
    })
    await lab.mountedAsync('size=1m', 'tmpfs', async (target) => {
      execFileSync('cp', ['-a', `${base.layers[0]?.path}/w/.`, target])
      const before = readTree(target)
      const run = applyView(lab, { from: base, to: view, workdir: '/w' }, target)
      await expect(run).rejects.toThrow(ResourceError)
      expect(readTree(target)).toEqual(before)
    })
  })

  test('a read-only directory leaves the target as it was', async () => {
    using lab = new OverlayLab()
    const base = workspace(lab)
    const view = lab.grow(base, (root) => {
      const w = join(root, 'w')
      writeFileSync(join(w, 'a'), 'theirs')
      rmSync(join(w, 'b'))
      mkdirSync(join(w, 'b'))
      writeFileSync(join(w, 'b/in'), 'new')
      writeFileSync(join(w, 'src/deep/d'), 'theirs')
    })
    const target = checkout(lab, base)
    const before = readTree(target)
    const spec = { from: base, to: view, workdir: '/w' }
    // Root ignores modes, but not read-only mounts.
    const point = join(target, 'src/deep')
    execFileSync('mount', ['--bind', point, point])
    execFileSync('mount', ['-o', 'remount,bind,ro', point])
    try {
      await expect(applyView(lab, spec, target)).rejects.toThrow(ConflictError)
      expect(readTree(target)).toEqual(before)
    } finally {
      execFileSync('umount', [point])
    }
    await applyView(lab, spec, target)
    expect(readFileSync(join(target, 'b/in'), 'utf8')).toBe('new')
    expect(readdirSync(target).filter((name) => name.startsWith('.'))).toEqual([])
  })

  test('what a killed process left half-applied is undone by the next call', async () => {
    using lab = new OverlayLab()
    const base = workspace(lab)
    const view = lab.grow(base, (root) => writeFileSync(join(root, 'w/a'), 'theirs'))
    const target = checkout(lab, base)
    const before = readTree(target)
    const { stage } = await interrupt(lab, target)
    const spec = { from: base, to: view, workdir: '/w' }
    await applyView(lab, spec, target, { mode: 'plan' })
    expect(existsSync(stage)).toBe(false)
    expect(readTree(target)).toEqual(before)
    expect(readdirSync(stateDir(lab))).toEqual([])
  })

  test.each([
    ['a pipe', instead((plan) => execFileSync('mkfifo', [plan]))],
    ['a device', instead((plan) => execFileSync('mknod', [plan, 'c', '1', '5']))],
    ['a symlink', instead((plan) => symlinkSync('/dev/zero', plan))],
    ['cut short', (plan: string) => truncateSync(plan, 30)],
    ['made of steps that lead outside', edit('"path":"a"', '"path":"../victim"')],
    ['made of an absolute path', edit('"path":"a"', '"path":"/etc/passwd"')],
    ['writable by others', (plan: string) => chmodSync(plan, 0o666)],
    ['for another directory', edit(/"target":"\d+"/, '"target":"1"')],
    ['for another stage', edit(/"staging":"\d+"/, '"staging":"1"')],
  ])('a plan that is %s is an error, and is not carried out', async (_, spoil) => {
    using lab = new OverlayLab()
    const base = workspace(lab)
    const view = lab.grow(base, (root) => writeFileSync(join(root, 'w/a'), 'theirs'))
    const target = checkout(lab, base)
    const { plan } = await interrupt(lab, target)
    spoil(plan)
    const after = readTree(target)
    const spec = { from: base, to: view, workdir: '/w' }
    const run = applyView(lab, spec, target)
    await expect(run).rejects.toBeInstanceOf(ForkpointError)
    expect(readTree(target)).toEqual(after)
    // Once somebody has looked at it and removed it, it no longer blocks.
    rmSync(plan)
    await applyView(lab, spec, target, { mode: 'plan' })
    expect(readdirSync(stateDir(lab))).toEqual([])
  })

  test('a file that becomes a symlink while it is copied changes nothing on the host', async () => {
    using lab = new OverlayLab()
    const base = workspace(lab)
    const view = lab.grow(base, (root) => writeFileSync(join(root, 'w/a'), 'theirs'))
    const target = checkout(lab, base)
    const victim = join(lab.directory('victim'), 'file')
    writeFileSync(victim, 'of the host', { mode: 0o600 })
    const source = labSource(lab, { from: base, to: view, workdir: '/w' })
    const hostile: typeof source = {
      ...source,
      archive: (paths) => {
        const file = join(view.layers[0]?.path ?? '', 'w/a')
        rmSync(file)
        symlinkSync(victim, file)
        return source.archive(paths)
      },
    }
    const before = readTree(target)
    const run = applyTo(target, hostile, { stateDir: stateDir(lab) })
    await expect(run).rejects.toThrow('changed inside')
    expect(statSync(victim).mode & 0o7777).toBe(0o600)
    expect(readTree(target)).toEqual(before)
  })
})

function instead(make: (plan: string) => unknown): (plan: string) => void {
  return (plan) => {
    rmSync(plan)
    make(plan)
  }
}

function edit(from: string | RegExp, to: string): (plan: string) => void {
  return (plan) => writeFileSync(plan, readFileSync(plan, 'utf8').replace(from, to))
}

/** As if killed after keeping and replacing `a` and removing `b`, before a `put`. */
async function interrupt(lab: OverlayLab, target: string) {
  await using directory = await TargetDirectory.open(target)
  const name = newStagingName()
  const id = '0123456789abcdef'
  const facts = { id, machine: thisMachine(), target, staging: name, ...directory.identity }
  await saveClaim(stateDir(lab), { ...facts, owner: null })
  const stage = join(target, name)
  mkdirSync(join(stage, 'old'), { recursive: true })
  mkdirSync(join(stage, 'new'))
  const steps: Step[] = [
    { do: 'away', path: 'b', slot: 1 },
    { do: 'keep', path: 'a', slot: 0 },
    { do: 'put', path: 'a', slot: 0 },
    { do: 'put', path: 'later', slot: 2 },
  ]
  const inodes = { target: directory.identity.inode, staging: String(statSync(stage).ino) }
  await savePlan(stateDir(lab), id, { inodes, steps })
  execFileSync('mv', [join(target, 'a'), join(stage, 'old/0')])
  execFileSync('mv', [join(target, 'b'), join(stage, 'old/1')])
  writeFileSync(join(target, 'a'), 'half-applied')
  writeFileSync(join(stage, 'new/2'), 'never put')
  return { stage, plan: planPath(stateDir(lab), id) }
}

/** What apply promises to carry over: no owners, which are the host's, and no set-id bits. */
function essence(tree: ReturnType<typeof readTree>) {
  return [...tree]
    .map(([path, { type, mode, content }]) => ({
      path,
      type,
      content,
      mode: type === 'symlink' ? 0 : mode & 0o1777,
    }))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
}
