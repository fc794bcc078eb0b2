import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from 'vitest'
import { textToBytes } from '../../../src/agent/files/byte-text.ts'
import { changesBetween } from '../../../src/backends/native/overlay/view/changes/changes.ts'
import { openFile } from '../../../src/backends/native/overlay/view/contents.ts'
import { lookup } from '../../../src/backends/native/overlay/view/entries.ts'
import { viewOf } from '../../../src/backends/native/overlay/view/native-view.ts'
import { unifiedPatch } from '../../../src/backends/native/overlay/view/patch.ts'
import { InvalidInputError, NotFoundError } from '../../../src/model/errors.ts'
import { unless } from '../../support/evidence.ts'
import { readTree } from './kernel-tree.ts'
import { ids, OverlayLab, whyNoLayers } from './overlay-lab.ts'

describe('files of layers', unless(whyNoLayers), () => {
  test('a symlink made inside leads nowhere outside', async () => {
    using lab = new OverlayLab()
    const base = lab.base((root) => mkdirSync(join(root, 'etc')))
    const view = lab.grow(base, (root) => {
      rmSync(join(root, 'etc'), { recursive: true })
      symlinkSync('/etc', join(root, 'etc'))
      symlinkSync('/etc/passwd', join(root, 'secret'))
    })
    expect(await lookup(view, ['/etc/passwd'])).toEqual([null])
    await expect(openFile(view, '/etc/passwd')).rejects.toThrow(NotFoundError)
    await expect(openFile(view, '/secret')).rejects.toThrow(InvalidInputError)
    await expect(openFile(view, '/../etc/passwd')).rejects.toThrow(InvalidInputError)
  })

  test('a file is read from the topmost layer that has it', async () => {
    using lab = new OverlayLab()
    const base = lab.base((root) => writeFileSync(join(root, 'f'), 'below'))
    const view = lab.grow(base, (root) => writeFileSync(join(root, 'f'), 'above'))
    expect(await text(await openFile(view, '/f'))).toBe('above')
    expect(await text(await openFile(base, '/f'))).toBe('below')
  })

  test('a touched, linked or rewritten file is not a change', async () => {
    using lab = new OverlayLab()
    const base = lab.base((root) => {
      for (const name of ['a', 'b', 'c']) writeFileSync(join(root, name), 'same')
    })
    const view = lab.grow(base, (root) => {
      execFileSync('touch', [join(root, 'a')])
      writeFileSync(join(root, 'b'), 'same')
      chmodSync(join(root, 'c'), 0o600)
      chmodSync(join(root, 'c'), 0o644)
    })
    expect(await changesBetween(base, view, { ids })).toEqual([])
  })

  test('sparse files of a terabyte are compared by their content, immediately', async () => {
    using lab = new OverlayLab()
    const make = (root: string, name: string, middle: string) => {
      const file = join(root, name)
      rmSync(file, { force: true })
      const script = `truncate -s 1T "$1"; printf %s "$2" | dd of="$1" bs=1M seek=500000 conv=notrunc`
      execFileSync('sh', ['-c', script, 'sh', file, middle], { stdio: 'ignore' })
    }
    const base = lab.base((root) => {
      for (const name of ['same', 'changed', 'gone']) make(root, name, 'old')
    })
    const view = lab.grow(base, (root) => {
      make(root, 'same', 'old')
      make(root, 'changed', 'new')
      rmSync(join(root, 'gone'))
      make(root, 'made', 'old')
    })
    expect(await changesBetween(base, view, { ids })).toMatchObject([
      { path: '/changed', kind: 'modified' },
      { path: '/gone', kind: 'deleted' },
      { path: '/made', kind: 'added' },
    ])
  })

  test('files with the same size and time can still differ', async () => {
    using lab = new OverlayLab()
    const write = (content: string) => (root: string) => {
      writeFileSync(join(root, 'f'), content)
      execFileSync('touch', ['-d', '@1', join(root, 'f')])
    }
    const base = lab.base(write('1.0'))
    const view = lab.grow(base, write('1.1'))
    const changes = await changesBetween(base, view, { ids })
    expect(changes).toMatchObject([{ path: '/f', kind: 'modified', sizeDelta: 0 }])
  })

  test('a moved file is a rename, unless several files could be it', async () => {
    using lab = new OverlayLab()
    const base = lab.base((root) => {
      writeFileSync(join(root, 'one'), 'only once')
      writeFileSync(join(root, 'x'), 'twice')
      writeFileSync(join(root, 'y'), 'twice')
      writeFileSync(join(root, 'empty'), '')
    })
    const view = lab.grow(base, (root) => {
      for (const name of ['one', 'x', 'y', 'empty']) {
        renameSync(join(root, name), join(root, `${name}2`))
      }
    })
    const changes = await changesBetween(base, view, { ids })
    expect(changes.map(({ path, kind, from }) => [path, kind, from])).toEqual([
      ['/empty', 'deleted', undefined],
      ['/empty2', 'added', undefined],
      ['/one2', 'renamed', '/one'],
      ['/x', 'deleted', undefined],
      ['/x2', 'added', undefined],
      ['/y', 'deleted', undefined],
      ['/y2', 'added', undefined],
    ])
  })

  test('a deleted directory is one change that says how much was in it', async () => {
    using lab = new OverlayLab()
    const base = lab.base((root) => {
      mkdirSync(join(root, 'd/e'), { recursive: true })
      writeFileSync(join(root, 'd/e/f'), '12345')
      mkdirSync(join(root, 'kept'))
      writeFileSync(join(root, 'kept/g'), 'g')
    })
    const view = lab.grow(base, (root) => rmSync(join(root, 'd'), { recursive: true }))
    const changes = await changesBetween(base, view, { ids })
    expect(changes).toMatchObject([{ path: '/d', kind: 'deleted', contents: 2, sizeDelta: -5 }])
    const back = await changesBetween(view, base, { ids, paths: ['/d/e'] })
    expect(back.map(({ path, kind }) => [path, kind])).toEqual([
      ['/d/e', 'added'],
      ['/d/e/f', 'added'],
    ])
  })

  test("Forkpoint's own paths and mount points are left out", async () => {
    using lab = new OverlayLab()
    const base = lab.base(() => {})
    const view = lab.grow(base, (root) => {
      for (const path of ['.forkpoint', 'run/forkpoint', 'dev', 'proc', 'sys', 'devices']) {
        mkdirSync(join(root, path, 'x'), { recursive: true })
      }
    })
    const changes = await changesBetween(base, view, { ids })
    expect(changes.map(({ path }) => path)).toEqual(['/devices', '/devices/x', '/run'])
  })

  test('ids are as seen inside', async () => {
    using lab = new OverlayLab()
    const shift = { base: 1_000_000, count: 65_536 }
    const base = lab.base((root) => execFileSync('install', ['-o', '7', '/dev/null', `${root}/f`]))
    const upper = lab.directory('upper')
    execFileSync('install', ['-o', '1000007', '-g', '1000000', '/dev/null', `${upper}/f`])
    execFileSync('install', ['-o', '1000008', '/dev/null', `${upper}/g`])
    const view = viewOf([{ path: upper, ids: 'cell' }, ...base.layers])
    const changes = await changesBetween(base, view, { ids: shift })
    expect(changes).toMatchObject([{ path: '/g', kind: 'added', after: { uid: 8, gid: 65_534 } }])
  })

  test('git can apply a patch to get from one to the other', async () => {
    using lab = new OverlayLab()
    const lines = Array.from({ length: 40 }, (_, at) => `line ${at}\n`)
    const base = lab.base((root) => {
      writeFileSync(join(root, 'text'), lines.join(''))
      writeFileSync(join(root, 'gone'), 'bye\n')
      writeFileSync(join(root, 'moved'), 'content that moves\n')
      writeFileSync(join(root, 'latin'), Buffer.from([0xe9, 0x0a]))
      writeFileSync(join(root, 'script'), '#!/bin/sh\n')
      writeFileSync(join(root, 'no newline'), 'end')
      symlinkSync('text', join(root, 'link'))
      writeFileSync(join(root, 'becomes-link'), 'file\n')
    })
    const view = lab.grow(base, (root) => {
      writeFileSync(join(root, 'text'), lines.with(3, 'new\n').with(30, 'other\n').join(''))
      rmSync(join(root, 'gone'))
      renameSync(join(root, 'moved'), join(root, 'tab\there'))
      writeFileSync(join(root, 'latin'), Buffer.from([0xe8, 0x0a]))
      chmodSync(join(root, 'script'), 0o755)
      writeFileSync(join(root, 'no newline'), 'End')
      writeFileSync(join(root, 'quo"ted ä'), 'added\n')
      rmSync(join(root, 'link'))
      symlinkSync('script', join(root, 'link'))
      rmSync(join(root, 'becomes-link'))
      symlinkSync('text', join(root, 'becomes-link'))
      writeFileSync(join(root, 'empty'), '')
    })
    const changes = await changesBetween(base, view, { ids })
    const patches = await Promise.all(changes.map((change) => unifiedPatch(change, base, view)))
    const copy = lab.directory('copy')
    const [layer] = base.layers
    execFileSync('cp', ['-a', `${layer?.path}/.`, copy])
    execFileSync('git', ['apply', '--whitespace=nowarn', '-p1'], {
      cwd: copy,
      input: textToBytes(patches.join('')),
      env: { ...process.env, GIT_CEILING_DIRECTORIES: lab.dir },
    })
    expect(readTree(copy)).toEqual(lab.show(view, readTree))
  })

  test('for binary files a patch only says that they differ', async () => {
    using lab = new OverlayLab()
    const base = lab.base((root) => writeFileSync(join(root, 'b'), Buffer.of(0, 1)))
    const view = lab.grow(base, (root) => writeFileSync(join(root, 'b'), Buffer.of(0, 2)))
    const [change] = await changesBetween(base, view, { ids })
    expect(change && (await unifiedPatch(change, base, view))).toBe(
      'diff --git a/b b/b\nBinary files a/b and b/b differ\n',
    )
  })

  test('a hard link in the upper is read like any file', async () => {
    using lab = new OverlayLab()
    const base = lab.base((root) => writeFileSync(join(root, 'a'), 'x'))
    const view = lab.grow(base, (root) => linkSync(join(root, 'a'), join(root, 'b')))
    expect(await text(await openFile(view, '/b'))).toBe(
      readFileSync(`${base.layers[0]?.path}/a`, 'utf8'),
    )
  })
})
