import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { exportArchive } from '../../../src/api/host/export.ts'
import { BackendError, ForkpointError } from '../../../src/model/errors.ts'
import {
  archiveOf,
  entry,
  type HandMade,
  header,
  report,
  streamed,
} from '../../support/hand-made-tar.ts'
import { TemporaryDirectory } from '../../support/temporary-directory.ts'

let files: TemporaryDirectory
beforeEach(() => {
  files = new TemporaryDirectory()
  for (const name of ['to', 'victim']) mkdirSync(files.file(name))
  writeFileSync(files.file('victim/file'), 'of the host')
  chmodSync(files.file('victim/file'), 0o600)
})
afterEach(() => files[Symbol.dispose]())

const out = () => files.file('to/out')
const bring = (bytes: Buffer, options = {}) =>
  exportArchive(async () => streamed(bytes), out(), options)

async function expectRefused(bytes: Buffer): Promise<void> {
  await expect(bring(bytes)).rejects.toBeInstanceOf(ForkpointError)
  expectNothingDone()
}

function expectNothingDone(): void {
  expect(readdirSync(files.file('to'))).toEqual([])
  expect(readdirSync(files.file('victim'))).toEqual(['file'])
  expect(readFileSync(files.file('victim/file'), 'utf8')).toBe('of the host')
  expect(statSync(files.file('victim/file'))).toMatchObject({ nlink: 1, mode: 0o100600 })
  expect(existsSync('/tmp/forkpoint-planted')).toBe(false)
}

const top: HandMade = { name: '.', type: '5', mode: 0o755 }
const link = (name: string, target: string): HandMade => ({ name, type: '2', target })
const second = (name: string, target: string): HandMade => ({ name, type: '1', target })
const directory = (name: string): HandMade => ({ name, type: '5', mode: 0o755 })

const sparse = (realsize: number, list: string, content = ''): HandMade => ({
  name: 'holes',
  content: Buffer.concat([Buffer.from(list.padEnd(512, '\0')), Buffer.from(content)]),
  records: {
    'GNU.sparse.major': '1',
    'GNU.sparse.minor': '0',
    'GNU.sparse.realsize': String(realsize),
  },
})

describe('a complete archive', () => {
  test('becomes a directory with all its entries', async () => {
    const bytes = archiveOf(
      { ...top, mode: 0o750 },
      directory('d'),
      { name: 'd/file', content: 'content', mode: 0o640, records: { mtime: '1600000000.25' } },
      { name: 'd/caf\xe9', content: '' },
      link('d/link', '/nowhere'),
      second('d/same', 'd/file'),
      { name: 'x/y/z', content: 'z' },
      sparse(10_000_000, '2\n8192\n3\n10000000\n0\n', 'abc'),
    )
    const seen: unknown[] = []
    const done = await bring(bytes, { onProgress: (progress: unknown) => seen.push(progress) })
    expect(done).toEqual({ entries: 8, bytes: 10_000_008, leftOut: [] })
    expect(seen.at(-1)).toEqual({ entries: 8, bytes: 11 })
    expect(statSync(out()).mode & 0o7777).toBe(0o750)
    expect(readFileSync(`${out()}/d/file`, 'utf8')).toBe('content')
    expect(statSync(`${out()}/d/file`)).toMatchObject({ mtimeMs: 1_600_000_000_250, nlink: 2 })
    expect(readdirSync(`${out()}/d`, 'latin1').sort()).toEqual(['caf\xe9', 'file', 'link', 'same'])
    expect(readlinkSync(`${out()}/d/link`)).toBe('/nowhere')
    const holes = readFileSync(`${out()}/holes`)
    expect(holes.subarray(8192, 8195).toString()).toBe('abc')
    expect(holes.filter((byte) => byte !== 0).length).toBe(3)
    expect(statSync(`${out()}/holes`).blocks).toBeLessThan(100)
    expect(statSync(`${out()}/x`).mode & 0o7777).toBe(0o755)
  })

  test('has no set-id bits, and its files belong to the caller', async () => {
    const suid = { name: 'su', mode: 0o6755, uid: 7 }
    await bring(archiveOf(top, suid, { ...directory('sg'), mode: 0o3777 }))
    expect(statSync(`${out()}/su`)).toMatchObject({ mode: 0o100755, uid: process.geteuid?.() })
    expect(statSync(`${out()}/sg`).mode & 0o7777).toBe(0o1777)
  })

  test('keeps times from before 1970, and bounds those that no file has', async () => {
    const at = (name: string, mtime: string): HandMade => ({ name, records: { mtime } })
    await bring(archiveOf(top, at('old', '-1000.5'), at('far', '9'.repeat(300))))
    expect(statSync(`${out()}/old`).mtimeMs).toBe(-1_000_500)
    expect(existsSync(`${out()}/far`)).toBe(true)
  })

  test('says what was left out', async () => {
    const bytes = Buffer.concat([entry(top), report(1, 0, ['dev/one', 'two'])])
    expect((await bring(bytes)).leftOut).toEqual(['/dev/one', '/two'])
  })
})

describe('an archive that leads out of its directory is refused, and leaves nothing behind:', () => {
  test.each<[string, () => HandMade[]]>([
    ['an absolute name', () => [{ name: '/tmp/forkpoint-planted', content: 'x' }]],
    ['a name with ..', () => [{ name: '../../victim/planted', content: 'x' }]],
    ['a name with .. further down', () => [{ name: 'a/../../../victim/planted', content: 'x' }]],
    ['a name with an empty part', () => [{ name: 'a//b', content: 'x' }]],
    ['a name that ends with /', () => [{ name: 'a/', content: 'x' }]],
    ['a name of .', () => [{ name: 'a/./b', content: 'x' }]],
    ['no name', () => [{ name: '', content: 'x' }]],
    ['a long name with ..', () => [{ name: `${'a/'.repeat(80)}../b`, content: 'x' }]],
    ['a top that is a file', () => [{ name: '.', content: 'x' }]],
    ['a top that is a symlink', () => [link('.', files.file('victim'))]],
    [
      'a file below a symlink',
      () => [link('l', files.file('victim')), { name: 'l/planted', content: 'x' }],
    ],
    ['a directory below a symlink', () => [link('l', files.file('victim')), directory('l/d')]],
    ['a symlink below a symlink', () => [link('l', files.file('victim')), link('l/s', 'x')]],
    ['a directory in place of a symlink', () => [link('l', files.file('victim')), directory('l')]],
    [
      'a file in place of a symlink',
      () => [link('l', files.file('victim/file')), { name: 'l', content: 'x' }],
    ],
    ['a second name of a file outside', () => [second('s', files.file('victim/file'))]],
    ['a second name through ..', () => [second('s', '../../victim/file')]],
    [
      'a second name through a symlink',
      () => [link('l', files.file('victim')), second('s', 'l/file')],
    ],
    ['a second name of a symlink', () => [link('l', files.file('victim/file')), second('s', 'l')]],
    ['a second name of a directory', () => [directory('d'), second('s', 'd')]],
    ['a second name of a missing file', () => [second('s', 'nothing')]],
    ['a second name of itself', () => [second('s', 's')]],
    ['a name that occurs twice', () => [{ name: 'a' }, { name: 'a' }]],
    ['a directory that occurs twice', () => [directory('d'), directory('d')]],
    ['a directory after its own entries', () => [{ name: 'd/f' }, directory('d')]],
    ['a top that occurs twice', () => [top, top]],
    ['a file below a file', () => [{ name: 'f' }, { name: 'f/g' }]],
    ['a character device', () => [{ name: 'c', type: '3' }]],
    ['a block device', () => [{ name: 'b', type: '4' }]],
    ['a pipe', () => [{ name: 'p', type: '6' }]],
    ['a type of another tar', () => [{ name: 's', type: 'S' }]],
    ['a report disguised as a file', () => [{ name: 'a' }, { name: 'x', type: 'R' }]],
    ['a symlink without a target', () => [link('l', '')]],
    ['a symlink with content', () => [{ ...link('l', 'x'), content: 'x'.repeat(512) }]],
    ['an invalid time', () => [{ name: 'a', records: { mtime: 'x' } }]],
    ['an invalid owner', () => [{ name: 'a', uid: 0xffff_ffff }]],
  ])('%s', async (_, entries) => {
    await expectRefused(archiveOf(...entries()))
  })

  test.each([
    ['of more bytes than it has', sparse(100, '1\n0\n200\n', 'x'.repeat(200))],
    ['that overlap', sparse(1000, '2\n0\n10\n5\n10\n', 'x'.repeat(20))],
    ['that are not numbers', sparse(1000, '1\nx\n10\n', 'x'.repeat(10))],
    ['without end', sparse(1000, `${'9'.repeat(12)}\n`)],
    ['that hold less than it says', sparse(1000, '1\n0\n10\n', 'x')],
    ['that hold more than it says', sparse(1000, '1\n0\n1\n', 'x'.repeat(10))],
    ['of an invalid size', { ...sparse(0, '0\n'), records: { 'GNU.sparse.major': '1' } }],
    ['in another form', { ...sparse(0, '0\n'), records: { 'GNU.sparse.major': '0' } }],
  ])('a file with holes %s', async (_, file) => {
    await expectRefused(archiveOf(file))
  })

  test.each([
    ['a wrong checksum', Buffer.concat([Buffer.from('b'), entry({ name: 'a' }).subarray(1)])],
    ['no archive', Buffer.alloc(10_000, 'x')],
    ['nothing', Buffer.alloc(0)],
    ['zeros', Buffer.alloc(10_240)],
    ['a record that is too long', header({ name: 'x', type: 'x' }, 2 ** 32)],
    ['a size that never ends', Buffer.concat([header({ name: 'a' }, 2 ** 47), Buffer.alloc(9999)])],
    ['wrong counts', Buffer.concat([entry(top), report(2, 0)])],
    ['wrong sizes', Buffer.concat([entry(top), report(1, 5)])],
    ['a report that cannot be read', entry({ name: '.forkpoint-report', type: 'R', content: 'x' })],
    ['two reports', Buffer.concat([report(0, 0), report(0, 0)])],
    ['something after the report', Buffer.concat([report(0, 0), entry({ name: 'a' })])],
  ])('%s', async (_, bytes) => {
    await expectRefused(bytes)
  })
})

describe('an incomplete archive', () => {
  const bytes = archiveOf(top, directory('d'), { name: 'd/f', content: 'x'.repeat(2000) })

  test('is refused wherever it ends', async () => {
    // The blocks of zeros at the very end mean nothing.
    for (let length = 0; length <= bytes.length - 1536; length += 256) {
      await expectRefused(bytes.subarray(0, length))
    }
    await bring(bytes)
  })

  test('fails with what its source failed with', async () => {
    async function* failing() {
      yield bytes.subarray(0, 2000)
      throw new BackendError('copying files out failed: why')
    }
    const source = Readable.from(failing(), { objectMode: false })
    await expect(exportArchive(async () => source, out())).rejects.toThrow('failed: why')
    expectNothingDone()
  })

  test('is not requested if there is no place for it', async () => {
    writeFileSync(out(), '')
    const archive = () => Promise.reject(new Error('asked'))
    await expect(exportArchive(archive, out())).rejects.toThrow('already exists')
  })

  test('ends its source when the disk is full', async () => {
    const source = streamed(archiveOf({ name: 'a', content: 'x'.repeat(100_000) }))
    await expect(exportArchive(async () => source, '/dev/full/out')).rejects.toThrow(ForkpointError)
    const gone = streamed(archiveOf({ name: 'a' }, { name: 'a' }))
    await expect(exportArchive(async () => gone, out())).rejects.toThrow('appears twice')
    expect(gone.destroyed).toBe(true)
  })
})
