// Images that were made to write outside of their layer, to deceive, or to fill the disk.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { gzipSync } from 'node:zlib'
import { afterAll, describe, expect, test } from 'vitest'
import { placesOf } from '../../../src/backends/native/places.ts'
import { InvalidInputError } from '../../../src/index.ts'
import { type HandMade, header } from '../../support/hand-made-tar.ts'
import {
  archiveOfFiles,
  type HandMadeLayer,
  layoutFiles,
  plainLayer,
  savedFiles,
  sha256,
  tarOf,
  writeLayout,
} from '../../support/images/image-files.ts'
import { TemporaryDirectory } from '../../support/temporary-directory.ts'
import { TestHome } from '../../support/test-home.ts'

const home = new TestHome('hostile-images')
const files = new TemporaryDirectory()
afterAll(async () => {
  await home[Symbol.asyncDispose]()
  files[Symbol.dispose]()
})
const fp = await home.open()
const secret = files.file('secret')
writeFileSync(secret, 'untouched')

let count = 0

/** Refused with words that match, and leaves neither an environment nor a part of the image. */
async function refused(from: string, why: RegExp): Promise<void> {
  const failure = await fp.create({ from }).then(
    () => null,
    (error: unknown) => error,
  )
  expect(failure).toBeInstanceOf(InvalidInputError)
  expect(String(failure)).toMatch(why)
  expect(await fp.list()).toEqual([])
  const { images } = placesOf(home.path)
  for (const part of ['entries', 'layers', 'drafts']) {
    expect(existsSync(`${images}/${part}`) ? readdirSync(`${images}/${part}`) : []).toEqual([])
  }
  expect(readFileSync(secret, 'utf8')).toBe('untouched')
}

function layoutOf(...layers: readonly HandMadeLayer[]): string {
  const dir = files.file(`layout-${count++}`)
  writeLayout(dir, layoutFiles(layers))
  return dir
}

const up = '../'.repeat(20)

const hostile: readonly [title: string, entries: readonly HandMade[], why: RegExp][] = [
  ['an absolute name', [{ name: secret, content: 'gone' }], /absolute/],
  ['a name with ..', [{ name: `a/${up}${secret}`, content: 'gone' }], /leads out/],
  ['a directory called ..', [{ name: '..', type: '5' }], /leads out/],
  ['a whiteout of ..', [{ name: 'a/.wh...', content: '' }], /deletes no name/],
  ['a whiteout of nothing', [{ name: '.wh.', content: '' }], /deletes no name/],
  [
    'a name through a symbolic link to the host',
    [
      { name: 'out', type: '2', target: files.path },
      { name: 'out/secret', content: 'gone' },
    ],
    /goes through a link/,
  ],
  [
    'a directory through a symbolic link',
    [
      { name: 'out', type: '2', target: files.path },
      { name: 'out/made/', type: '5' },
    ],
    /goes through a link/,
  ],
  ['a hard link to an absolute name', [{ name: 'l', type: '1', target: secret }], /absolute/],
  [
    'a hard link out of the layer',
    [{ name: 'l', type: '1', target: `${up}${secret}` }],
    /leads out/,
  ],
  [
    'a hard link to what is not there',
    [{ name: 'l', type: '1', target: 'no' }],
    /not in its layer/,
  ],
  [
    'a hard link through a symbolic link',
    [
      { name: 'out', type: '2', target: files.path },
      { name: 'l', type: '1', target: 'out/secret' },
    ],
    /goes through a link/,
  ],
  [
    'a hard link to a directory',
    [
      { name: 'd/', type: '5' },
      { name: 'l', type: '1', target: 'd' },
    ],
    /no file/,
  ],
  ['a device', [{ name: 'disk', type: '4' }], /is a device/],
  ['a device that would be a whiteout', [{ name: 'etc/hidden', type: '3' }], /is a device/],
  [
    'a device below a directory that begins like dev',
    [{ name: 'device/x', type: '3' }],
    /is a device/,
  ],
  [
    'a file that is a directory before',
    [
      { name: 'd/x', content: '' },
      { name: 'd', content: '' },
    ],
    /something else/,
  ],
  ['a file in place of the root', [{ name: './', content: 'x' }], /without a name/],
  ['a sparse file', [{ name: 's', records: { 'GNU.sparse.major': '1' } }], /sparse/],
  ['an unknown type', [{ name: 'u', type: 'Z' }], /unknown type/],
  ['a negative user', [{ name: 'u', records: { uid: '-1' } }], /no number/],
  ['a name that is too long', [{ name: `${'a/'.repeat(3000)}x` }], /too long/],
  ['a component that is too long', [{ name: 'a'.repeat(300) }], /too long/i],
]

describe('an archive is refused that has', () => {
  test.each(hostile)('%s', async (_title, entries, why) => {
    await refused(`oci:${layoutOf(plainLayer(tarOf(...entries)))}`, why)
    expect(existsSync(files.file('made'))).toBe(false)
  })

  test('a file that is larger than the disk', async () => {
    const tar = Buffer.concat([header({ name: 'huge', size: 2 ** 45 }, 0), Buffer.alloc(1024)])
    await refused(`oci:${layoutOf(plainLayer(tar))}`, /more than \d+ bytes/)
  })

  test('an end before its content', async () => {
    const tar = header({ name: 'cut', size: 4096 }, 0)
    await refused(`oci:${layoutOf(plainLayer(tar))}`, /ends early/)
  })

  test('a damaged header', async () => {
    const tar = tarOf({ name: 'a', content: 'x' })
    tar.write('zzzz', 10)
    await refused(`oci:${layoutOf(plainLayer(tar))}`, /checksum/)
  })

  test('a damaged compression', async () => {
    const tar = tarOf({ name: 'a', content: 'x'.repeat(10_000) })
    const blob = gzipSync(tar).subarray(0, 40)
    await refused(`oci:${layoutOf({ tar, blob })}`, /decompressed|ends early/)
  })

  test('a layer that is another than its digest says', async () => {
    const tar = tarOf({ name: 'a', content: 'good' })
    const blob = tarOf({ name: 'a', content: 'evil' })
    await refused(`oci:${layoutOf({ tar, blob })}`, /does not match its digest/)
  })
})

describe('an image is refused', () => {
  const layer = plainLayer(tarOf({ name: 'a', content: 'x' }))

  test('whose configuration was replaced', async () => {
    const dir = files.file(`layout-${count++}`)
    const all = layoutFiles([layer])
    for (const [name, bytes] of all) {
      if (bytes.includes('diff_ids')) all.set(name, Buffer.from(`${bytes} `))
    }
    writeLayout(dir, all)
    await refused(`oci:${dir}`, /does not match/)
  })

  test('whose files are links, pipes or missing', async () => {
    const dir = files.file(`layout-${count++}`)
    mkdirSync(dir)
    await refused(`oci:${dir}`, /neither/)
    symlinkSync(secret, `${dir}/index.json`)
    await expect(fp.create({ from: `oci:${dir}` })).rejects.toThrow()
    await refused(`archive:/dev/zero`, /regular file/)
    await refused(`archive:${secret}`, /neither|no tar/)
  })

  test('whose names in the manifest lead outside', async () => {
    const all = savedFiles([layer])
    const manifest = [{ Config: `${up}${secret}`, Layers: [secret] }]
    all.set('manifest.json', Buffer.from(JSON.stringify(manifest)))
    const path = files.file(`archive-${count++}`)
    writeFileSync(path, archiveOfFiles(all))
    await refused(`archive:${path}`, /lacks/)
  })

  test('whose digest is the name of a file', async () => {
    const dir = files.file(`layout-${count++}`)
    const digest = `sha256:${up}${secret}`
    writeLayout(
      dir,
      new Map([['index.json', Buffer.from(JSON.stringify({ manifests: [{ digest }] }))]]),
    )
    await refused(`oci:${dir}`, /not SHA-256/)
  })

  test('that is compressed as a whole, with what to do', async () => {
    const path = files.file(`archive-${count++}`)
    writeFileSync(path, gzipSync(archiveOfFiles(savedFiles([layer]))))
    await refused(`archive:${path}`, /decompress it first|neither|ends early/)
  })

  test('that has several images', async () => {
    const all = savedFiles([layer])
    const one = { Config: `${sha256('x')}.json`, Layers: [] }
    all.set('manifest.json', Buffer.from(JSON.stringify([one, one])))
    const path = files.file(`archive-${count++}`)
    writeFileSync(path, archiveOfFiles(all))
    await refused(`archive:${path}`, /2 images/)
  })
})

describe('what an archive cannot have inside', () => {
  test('attributes of OverlayFS are left out', async () => {
    const records = {
      'SCHILY.xattr.trusted.overlay.redirect': '/etc',
      'SCHILY.xattr.user.note': 'kept',
    }
    const layer = plainLayer(tarOf({ name: 'd/', type: '5', mode: 0o755, records }))
    await fp.create({ from: `oci:${layoutOf(layer)}` })
    const { images } = placesOf(home.path)
    const path = `${images}/layers/${sha256(layer.tar)}/d`
    const { execFileSync } = await import('node:child_process')
    const script = `import os; print(sorted(os.listxattr(${JSON.stringify(path)})))`
    expect(execFileSync('python3', ['-c', script], { encoding: 'utf8' })).toBe("['user.note']\n")
    await home.removeAll()
    await fp.pruneImages()
  })
})
