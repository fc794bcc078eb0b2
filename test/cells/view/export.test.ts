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
import { describe, expect, test } from 'vitest'
import { exportFiles } from '../../../src/engine/copying/export.ts'
import { ConflictError, ResourceError } from '../../../src/model/errors.ts'
import { describeTree } from '../agent/describe-tree.ts'
import { labFiles } from './lab-files.ts'
import { OverlayLab, whyNoLayers } from './overlay-lab.ts'

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

describe.skipIf(whyNoLayers !== null)('export', () => {
  test('makes a new directory of the working directory, as it is inside', async () => {
    using lab = new OverlayLab()
    const view = project(lab)
    const target = join(lab.dir, 'out')
    const report = await exportFiles(labFiles(lab), { view, workdir: '/w' }, target)
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

  test('of paths keeps their places below the directory', async () => {
    using lab = new OverlayLab()
    const target = join(lab.dir, 'out')
    const source = { view: project(lab), workdir: '/w' }
    await exportFiles(labFiles(lab), source, target, { paths: ['/etc', '/w/src'] })
    expect(readdirSync(target)).toEqual(['etc', 'w'])
    expect(readFileSync(join(target, 'w/src/new'), 'utf8')).toBe('new')
  })

  test('takes away set-id bits and gives everything to the caller', async () => {
    using lab = new OverlayLab()
    const base = lab.base((root) => {
      writeFileSync(join(root, 'su'), '')
      execFileSync('chown', ['7:7', join(root, 'su')])
      chmodSync(join(root, 'su'), 0o6755)
    })
    const files = labFiles(lab)
    const [mine, kept] = [join(lab.dir, 'mine'), join(lab.dir, 'kept')]
    await exportFiles(files, { view: base, workdir: '/' }, mine)
    expect(statSync(join(mine, 'su'))).toMatchObject({ mode: 0o100755, uid: process.getuid?.() })
    await exportFiles(files, { view: base, workdir: '/' }, kept, { owner: 'keep' })
    expect(statSync(join(kept, 'su'))).toMatchObject({ mode: 0o100755, uid: 7, gid: 7 })
  })

  test('refuses a directory that holds something', async () => {
    using lab = new OverlayLab()
    const source = { view: project(lab), workdir: '/w' }
    await expect(exportFiles(labFiles(lab), source, '/etc')).rejects.toThrow(ConflictError)
  })

  test('leaves nothing behind when the disk is full or a path is missing', async () => {
    using lab = new OverlayLab()
    const base = lab.base((root) => writeFileSync(join(root, 'big'), Buffer.alloc(2 << 20, 1)))
    const files = labFiles(lab)
    await lab.mountedAsync('size=1m', 'tmpfs', async (small) => {
      const out = join(small, 'out')
      const run = exportFiles(files, { view: base, workdir: '/' }, out)
      await expect(run).rejects.toThrow(ResourceError)
      expect(readdirSync(small)).toEqual([])
    })
    const out = join(lab.dir, 'out')
    const run = exportFiles(files, { view: base, workdir: '/nowhere' }, out)
    await expect(run).rejects.toThrow('No such file')
    expect(existsSync(out)).toBe(false)
  })
})
