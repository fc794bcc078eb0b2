import { linkSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openImages } from '../../../../src/criu/images/dump-images.ts'
import { encodeImage } from '../../../../src/criu/images/format/image-file.ts'
import { copyImages, writeImages } from '../../../../src/criu/write-images.ts'
import { TemporaryDirectory } from '../../../support/temporary-directory.ts'

const head = Buffer.from('1943565438313056', 'hex')
const image = (...bytes: number[]) => ({ head, entries: bytes.map((byte) => Buffer.of(byte)) })

function writeDump(dir: TemporaryDirectory): string {
  const path = dir.file('images')
  mkdirSync(path)
  writeFileSync(join(path, 'files.img'), encodeImage(image(1, 2)))
  writeFileSync(join(path, 'pstree.img'), encodeImage(image(3)))
  writeFileSync(join(path, 'pages-1.img'), 'pages')
  return path
}

test('a file is read only once, whatever happens to it afterwards', () => {
  using dir = new TemporaryDirectory()
  const path = writeDump(dir)
  const images = openImages(path)
  const { files } = images
  writeFileSync(join(path, 'files.img'), 'something else')
  expect(images.files).toBe(files)
  expect(images.with({ 'pstree.img': image(4) }).files).toBe(files)
  expect(files.entries).toEqual([Buffer.of(1), Buffer.of(2)])
})

test('a change makes a new value, and the same content is not a change', () => {
  using dir = new TemporaryDirectory()
  const images = openImages(writeDump(dir))
  const changed = images.with({ 'files.img': image(9) })
  expect(images.files.entries).toHaveLength(2)
  expect(changed.files.entries).toEqual([Buffer.of(9)])
  expect(changed.bytes('files.img')).toEqual(encodeImage(image(9)))
  expect([images.changed, changed.changed]).toEqual([[], ['files.img']])
  expect(changed.with({ 'files.img': changed.files })).toBe(changed)
  expect(images.with({ 'files.img': images.files, 'pstree.img': images.bytes('pstree.img') })).toBe(
    images,
  )
})

test('only changed files are written, atomically, and other links keep their content', async () => {
  using dir = new TemporaryDirectory()
  const path = writeDump(dir)
  linkSync(join(path, 'files.img'), dir.file('other-name'))
  const { ino } = statSync(join(path, 'pstree.img'))
  const written = await writeImages(openImages(path).with({ 'files.img': image(9) }))
  expect(written.changed).toEqual([])
  expect(readFileSync(join(path, 'files.img'))).toEqual(encodeImage(image(9)))
  expect(readFileSync(dir.file('other-name'))).toEqual(encodeImage(image(1, 2)))
  expect(statSync(join(path, 'pstree.img')).ino).toBe(ino)
  expect(readdirSync(path).toSorted()).toEqual(['files.img', 'pages-1.img', 'pstree.img'])
})

test('a copy has the same files except for what has changed', async () => {
  using dir = new TemporaryDirectory()
  const path = writeDump(dir)
  const to = dir.file('copies')
  const copied = await copyImages(openImages(path).with({ 'files.img': image(9) }), to)
  expect(copied.directory).toBe(to)
  expect(openImages(to).files).toEqual(image(9))
  expect(openImages(path).files).toEqual(image(1, 2))
  for (const name of ['pstree.img', 'pages-1.img']) {
    expect(statSync(join(to, name)).ino).toBe(statSync(join(path, name)).ino)
  }
})
