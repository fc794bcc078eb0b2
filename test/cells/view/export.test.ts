import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  linkSync,
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
import { ConflictError, ResourceError } from '../../../src/model/errors.ts'
import { unless } from '../../support/evidence.ts'
import { describeTree } from '../agent/describe-tree.ts'
import { readTree } from './kernel-tree.ts'
import { exportView } from './lab-copies.ts'
import { OverlayLab, whyNoLayers } from './overlay-lab.ts'
import { doAll, tree, works } from './random-work.ts'

function project(lab: OverlayLab) {
  const base = lab.base((root) => {
    mkdirSync(join(root, 'w/src'), { recursive: true })
    writeFileSync(join(root, 'w/src/old'), 'old')
    writeFileSync(join(root, 'w/src/kept'), 'kept')
    writeFileSync(join(root, 'etc'), 'outside the working directory')
  })
  return lab.grow(base, (root) => {
    rmSync(join(root, 'w/src/old'))
    writeFileSync(join(root, 'w/src/new'), 'new')
    symlinkSync('/etc/passwd', join(root, 'w/link'))
    writeFileSync(join(root, 'w/holes'), 'x')
    truncateSync(join(root, 'w/holes'), 8 << 20)
    linkSync(join(root, 'w/src/new'), join(root, 'w/src/same'))
    execFileSync('mkfifo', [join(root, 'w/pipe')])
  })
}

const budgetMs = (Number(process.env.FORKPOINT_TEST_SECONDS ?? 8) * 1000) / 2

describe('export', unless(whyNoLayers), () => {
  test('copies what the kernel shows, whatever was done inside', async () => {
    await fc.assert(
      fc.asyncProperty(tree, works(12), async (before, after) => {
        using lab = new OverlayLab()
        const base = lab.base((root) => {
          mkdirSync(join(root, 'w'))
          doAll(join(root, 'w'), before)
        })
        const view = lab.grow(base, (root) => doAll(join(root, 'w'), after))
        const target = join(lab.dir, 'out')
        await exportView(lab, { view, workdir: '/w' }, target, { owner: 'keep' })
        const inside = lab.show(view, (root) => readTree(join(root, 'w')))
        expect(withoutSetIds(readTree(target))).toEqual(withoutSetIds(inside))
      }),
      { interruptAfterTimeLimit: budgetMs, markInterruptAsFailure: false, numRuns: 10_000 },
    )
  })

  test('copies the working directory to a new directory', async () => {
    using lab = new OverlayLab()
    const view = project(lab)
    const target = join(lab.dir, 'out')
    const report = await exportView(lab, { view, workdir: '/w' }, target)
    const inside = lab.show(view, (root) => {
      const copy = lab.directory('copy')
      execFileSync('cp', ['-a', `${root}/w/.`, copy])
      rmSync(join(copy, 'pipe'))
      return describeTree(copy).slice(1)
    })
    expect(describeTree(target).slice(1)).toEqual(inside)
    expect(statSync(join(target, 'holes')).blocks).toBeLessThan(100)
    expect(statSync(join(target, 'src/new')).ino).toBe(statSync(join(target, 'src/same')).ino)
    expect(report).toMatchObject({ entries: 7, leftOut: ['/w/pipe'] })
  })

  test('of some paths keeps their places below the directory', async () => {
    using lab = new OverlayLab()
    const target = join(lab.dir, 'out')
    const source = { view: project(lab), workdir: '/w' }
    await exportView(lab, source, target, { paths: ['/etc', '/w/src'] })
    expect(readdirSync(target)).toEqual(['etc', 'w'])
    expect(readFileSync(join(target, 'w/src/new'), 'utf8')).toBe('new')
  })

  test('removes set-id bits and makes the caller the owner', async () => {
    using lab = new OverlayLab()
    const base = lab.base((root) => {
      writeFileSync(join(root, 'su'), '')
      execFileSync('chown', ['7:7', join(root, 'su')])
      chmodSync(join(root, 'su'), 0o6755)
    })
    const [mine, kept] = [join(lab.dir, 'mine'), join(lab.dir, 'kept')]
    await exportView(lab, { view: base, workdir: '/' }, mine)
    expect(statSync(join(mine, 'su'))).toMatchObject({ mode: 0o100755, uid: process.getuid?.() })
    await exportView(lab, { view: base, workdir: '/' }, kept, { owner: 'keep' })
    expect(statSync(join(kept, 'su'))).toMatchObject({ mode: 0o100755, uid: 7, gid: 7 })
  })

  test('refuses a directory that is not empty', async () => {
    using lab = new OverlayLab()
    const source = { view: project(lab), workdir: '/w' }
    await expect(exportView(lab, source, '/etc')).rejects.toThrow(ConflictError)
  })

  test('leaves nothing behind if the disk is full or a path is missing', async () => {
    using lab = new OverlayLab()
    const base = lab.base((root) => writeFileSync(join(root, 'big'), Buffer.alloc(2 << 20, 1)))
    await lab.mountedAsync('size=1m', 'tmpfs', async (small) => {
      const out = join(small, 'out')
      const run = exportView(lab, { view: base, workdir: '/' }, out)
      await expect(run).rejects.toThrow(ResourceError)
      expect(readdirSync(small)).toEqual([])
    })
    const out = join(lab.dir, 'out')
    const run = exportView(lab, { view: base, workdir: '/nowhere' }, out)
    await expect(run).rejects.toThrow('No such file')
    expect(existsSync(out)).toBe(false)
  })

  test('copies a file that cannot have more links', async () => {
    using lab = new OverlayLab()
    const view = lab.base((root) => {
      writeFileSync(join(root, 'a'), 'linked', { mode: 0o640 })
      linkSync(join(root, 'a'), join(root, 'b'))
      linkSync(join(root, 'a'), join(root, 'c'))
    })
    const out = join(lab.dir, 'out')
    // As soon as it exists, it is changed so that it accepts no links.
    let first = ''
    const onProgress = ({ entries }: { entries: number }) => {
      const draft = readdirSync(lab.dir).find((name) => name.startsWith('.forkpoint-export-'))
      if (entries !== 2 || first !== '' || draft === undefined) return
      first = join(lab.dir, draft, 'a')
      if (existsSync(first)) execFileSync('chattr', ['+i', first])
    }
    const source = { view, workdir: '/' }
    const run = exportView(lab, source, out, { onProgress })
    try {
      await run
    } finally {
      execFileSync('chattr', ['-i', existsSync(first) ? first : join(out, 'a')])
    }
    for (const name of ['a', 'b', 'c']) expect(readFileSync(join(out, name), 'utf8')).toBe('linked')
    expect(statSync(join(out, 'a')).nlink).toBe(1)
    expect(statSync(join(out, 'b'))).toMatchObject({ nlink: 2, mode: 0o100640 })
  })
})

function withoutSetIds(tree: ReturnType<typeof readTree>) {
  const all = [...tree].map(([path, entry]) => ({ ...entry, path, mode: entry.mode & 0o1777 }))
  return all.sort((a, b) => (a.path < b.path ? -1 : 1))
}
