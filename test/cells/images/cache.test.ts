// Images are unpacked once, shared, counted, and removed only when nothing uses them.
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { placesOf } from '../../../src/backends/native/places.ts'
import {
  archiveOfFiles,
  layoutFiles,
  plainLayer,
  rootfsLayer,
  savedFiles,
  sha256,
  tarOf,
  writeLayout,
} from '../../support/images/image-files.ts'
import { expectNothing } from '../../support/remains.ts'
import { TemporaryDirectory } from '../../support/temporary-directory.ts'
import { TestHome } from '../../support/test-home.ts'

const home = new TestHome('image-cache')
const files = new TemporaryDirectory()
afterAll(async () => {
  await home[Symbol.asyncDispose]()
  files[Symbol.dispose]()
})
const fp = await home.open()
afterEach(async () => {
  await home.removeAll()
  await fp.pruneImages()
  await expectNothing(home)
})

const base = rootfsLayer(files.path)
const one = plainLayer(tarOf({ name: 'which', content: 'one\n' }))
const two = plainLayer(tarOf({ name: 'which', content: 'two\n' }))
const first = `oci:${files.file('first')}`
const second = `oci:${files.file('second')}`
writeLayout(files.file('first'), layoutFiles([base, one]))
writeLayout(files.file('second'), layoutFiles([base, two]))

const { images } = placesOf(home.path)
const layersOnDisk = () =>
  (existsSync(`${images}/layers`) ? readdirSync(`${images}/layers`) : []).sort()
const nameOf = (layer: { tar: Buffer }) => sha256(layer.tar)

describe('images', () => {
  test('share layers, and an archive of the same image is the same image', async () => {
    await fp.create({ from: first })
    await fp.create({ from: second })
    expect(layersOnDisk()).toEqual([base, one, two].map(nameOf).sort())
    writeFileSync(files.file('same.tar'), archiveOfFiles(savedFiles([base, one])))
    const env = await fp.create({ from: `archive:${files.file('same.tar')}` })
    expect((await env.exec('cat /which')).stdout).toBe('one\n')
    const { containerImages, totals } = await fp.usage()
    expect(containerImages.map(({ names }) => names.length).sort()).toEqual([1, 2])
    expect(totals.containerImageBytes).toBeGreaterThan(base.tar.length)
  })

  test('stay when the last environment is removed, and serve the next one', async () => {
    const env = await fp.create({ from: first })
    await env.remove()
    expect(layersOnDisk()).toEqual([base, one].map(nameOf).sort())
    const again = await fp.create({ from: first })
    expect((await again.exec('cat /which')).stdout).toBe('one\n')
  })

  test('are not pruned while an environment uses them', async () => {
    const env = await fp.create({ from: first })
    await (await fp.create({ from: second })).remove()
    const listed = await fp.pruneImages({ dryRun: true })
    expect(listed.map(({ names }) => names)).toEqual([[second]])
    expect(layersOnDisk()).toContain(nameOf(two))
    expect(await fp.pruneImages()).toEqual(listed)
    expect(layersOnDisk()).toEqual([base, one].map(nameOf).sort())
    expect((await env.exec('cat /which; ls /bin/cat')).stdout).toBe('one\n/bin/cat\n')
  })

  test('are not pruned while a snapshot uses them, which then forks', async () => {
    const env = await fp.create({ from: first })
    const snapshot = await env.snapshot()
    await env.remove()
    expect(await fp.pruneImages()).toEqual([])
    const [fork] = await snapshot.fork(1)
    expect((await fork?.exec('cat /which'))?.stdout).toBe('one\n')
    await fork?.remove()
    await fp.prune()
    expect((await fp.pruneImages()).length).toBe(1)
    expect(layersOnDisk()).toEqual([])
  })

  test('are unpacked by several at once, and once in the end', async () => {
    const made = await Promise.all([first, first, second].map((from) => fp.create({ from })))
    const said = await Promise.all(made.map(async (env) => (await env.exec('cat /which')).stdout))
    expect(said).toEqual(['one\n', 'one\n', 'two\n'])
    expect(readdirSync(`${images}/drafts`)).toEqual([])
  })
})
