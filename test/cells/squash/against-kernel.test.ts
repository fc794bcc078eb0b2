// A squashed layer must show what the layers it was made of showed.
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type NativeView, viewOf } from '../../../src/backends/native/overlay/view/native-view.ts'
import { nativeProgram } from '../../../src/linux/native-program.ts'
import { unless } from '../../support/evidence.ts'
import { OverlayLab, whyNoLayers } from '../view/overlay-lab.ts'
import { doAll, tree, works } from '../view/random-work.ts'
import { linkedNames, plainOf, type ShownEntry, shownTree } from './shown-tree.ts'

const budgetMs = Number(process.env.FORKPOINT_TEST_SECONDS ?? 12) * 1000

/** A view with the layers from `top` to before `end` squashed into one. */
function squashed(lab: OverlayLab, { layers }: NativeView, top: number, end: number): NativeView {
  const path = join(lab.dir, `squashed-${top}-${end}-${Math.random()}`)
  const members = layers.slice(top, end).map((layer) => `${layer.ids}:${layer.path}`)
  execFileSync(nativeProgram('cell'), ['squash', path, ...members])
  return viewOf([...layers.slice(0, top), { path, ids: 'cell' }, ...layers.slice(end)])
}

/** Without the links that an overlay keeps in its work directory, as a sealed layer is. */
function dropIndexes(lab: OverlayLab): void {
  execFileSync('sh', ['-c', 'rm -rf "$0"/work-*', lab.dir])
}

function expectSame(before: readonly ShownEntry[], after: readonly ShownEntry[]): void {
  expect(plainOf(after)).toEqual(plainOf(before))
  expect(linkedNames(after)).toEqual(linkedNames(before))
  // A name that a layer above hides is counted until the two layers are squashed.
  const names = new Map(linkedNames(before).flatMap((group) => group.map((path) => [path, group])))
  for (const [index, { path, links }] of before.entries()) {
    const visible = names.get(path)?.length ?? Math.min(links, 1)
    expect([links, visible], path).toContain(after[index]?.links)
  }
}

describe('a squashed layer', unless(whyNoLayers), () => {
  test('shows what its layers showed, whatever programs did in them', async () => {
    let runs = 0
    const histories = fc.record({
      base: tree,
      layers: fc.array(works(10), { minLength: 2, maxLength: 5 }),
      top: fc.nat(3),
      count: fc.integer({ min: 2, max: 5 }),
    })
    await fc.assert(
      fc.asyncProperty(histories, async ({ base, layers, top, count }) => {
        using lab = new OverlayLab()
        const view = layers.reduce(
          (below, each) => lab.grow(below, (root) => doAll(root, each)),
          lab.base((dir) => doAll(dir, base)),
        )
        dropIndexes(lab)
        const first = Math.min(top, layers.length - 1)
        const merged = squashed(lab, view, first, Math.min(first + count, layers.length))
        expectSame(lab.show(view, shownTree), lab.show(merged, shownTree))
        runs += 1
      }),
      { interruptAfterTimeLimit: budgetMs, markInterruptAsFailure: false, numRuns: 10_000 },
    )
    console.log(`squashed ${runs} random histories`)
    expect(runs).toBeGreaterThan(0)
  })

  test('keeps attributes, kinds, holes, times, links and names that are not text', async () => {
    using lab = new OverlayLab()
    const base = lab.base((dir) => doAll(dir, [{ do: 'mkdir', path: 'gone' }]))
    const run = (script: string) => (root: string) => {
      execFileSync('python3', [
        '-c',
        `import os, socket, struct\nos.chdir(${JSON.stringify(root)})\n${script}`,
      ])
    }
    const one = lab.grow(base, run(oddThings))
    const two = lab.grow(one, run(moreThings))
    dropIndexes(lab)
    const merged = squashed(lab, two, 0, 2)
    const before = lab.show(two, shownTree)
    const after = lab.show(merged, shownTree)
    expectSame(before, after)
    expect(linkedNames(after)).toEqual([['/dir/link', '/file']])
    const attributes = after.find(({ path }) => path === '/file')?.attributes ?? {}
    expect(Object.keys(attributes)).toEqual(
      expect.arrayContaining(['security.capability', 'system.posix_acl_access', 'user.word']),
    )
    const sparse = execFileSync('du', ['-B1', join(merged.layers[0]?.path ?? '', 'sparse')])
    expect(Number.parseInt(sparse.toString(), 10)).toBeLessThan(100_000)
  })

  test('leaves out whiteouts and marks that no longer hide anything, and keeps the others', () => {
    using lab = new OverlayLab()
    const base = lab.base((dir) => {
      mkdirSync(join(dir, 'kept'))
      mkdirSync(join(dir, 'replaced/below'), { recursive: true })
    })
    const one = lab.grow(base, (root) => {
      rmSync(join(root, 'replaced'), { recursive: true })
      mkdirSync(join(root, 'replaced/own'), { recursive: true })
    })
    const two = lab.grow(one, (root) => {
      rmSync(join(root, 'kept'), { recursive: true })
      rmSync(join(root, 'replaced/own'), { recursive: true })
    })
    dropIndexes(lab)
    const merged = squashed(lab, two, 0, 2)
    expectSame(lab.show(two, shownTree), lab.show(merged, shownTree))
    const found = execFileSync('find', [
      merged.layers[0]?.path ?? '',
      '-mindepth',
      '1',
      '-printf',
      '%y %P\n',
    ])
    expect(found.toString().split('\n').filter(Boolean).sort()).toEqual(['c kept', 'd replaced'])
  })

  test('accepts trees that are deeper than the longest path', () => {
    using lab = new OverlayLab()
    const base = lab.base(() => {})
    const one = lab.grow(base, (root) => {
      const script = `import os\nos.chdir(${JSON.stringify(root)})\nfor i in range(30):\n  os.mkdir('d'*200); os.chdir('d'*200)\nopen('a','w').write('deep'); os.link('a','b')`
      execFileSync('python3', ['-c', script])
    })
    dropIndexes(lab)
    const merged = squashed(lab, one, 0, 1)
    const script = `import os\nfor i in range(30): os.chdir('d'*200)\nprint(open('b').read(), os.stat('a').st_nlink)`
    const shown = lab.show(merged, (root) => execFileSync('python3', ['-c', script], { cwd: root }))
    expect(shown.toString()).toBe('deep 2\n')
    execFileSync('rm', ['-rf', ...[...one.layers, ...merged.layers].map(({ path }) => path)])
  })
})

const oddThings = `
os.mkdir('dir')
open('file', 'w').write('content')
os.link('file', 'dir/link')
os.chown('file', 7, 8); os.chmod('file', 0o6755)
os.setxattr('file', 'user.word', b'one')
os.setxattr('file', 'trusted.mine', b'two')
os.setxattr('file', 'security.capability', struct.pack('<IIIII', 0x02000001, 1 << 13, 0, 0, 0))
acl = struct.pack('<I', 2) + b''.join(struct.pack('<HHI', *e) for e in [(1, 7, 0xffffffff), (2, 5, 1234), (4, 5, 0xffffffff), (0x10, 5, 0xffffffff), (0x20, 5, 0xffffffff)])
os.setxattr('file', 'system.posix_acl_access', acl)
os.setxattr('dir', 'system.posix_acl_default', acl)
os.symlink(b'to\\xff nowhere', b'li\\xfenk')
os.setxattr(b'li\\xfenk', 'trusted.mine', b'three', follow_symlinks=False)
os.utime(b'li\\xfenk', ns=(1, 1000000000000000002), follow_symlinks=False)
os.mkfifo('fifo', 0o640)
socket.socket(socket.AF_UNIX).bind('socket')
os.mknod('null', 0o020666, os.makedev(1, 3))
with open('sparse', 'wb') as f: f.seek(50 << 20); f.write(b'end')
open('plain', 'w').write('text')
open('empty', 'w'); os.truncate('empty', 1 << 20)
os.utime('file', ns=(123456789, 987654321123456789))
os.utime('dir', ns=(5, 1234567890987654321))
`

const moreThings = `
open('plain', 'a').write(' and more')
os.rmdir('gone')
open('dir/new', 'w')
`
