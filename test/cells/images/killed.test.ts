// SIGKILL while an image is unpacked, taken from an engine, or removed.
import { readdirSync } from 'node:fs'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { placesOf } from '../../../src/backends/native/places.ts'
import { CliHome } from '../../e2e/cli/cli-home.ts'
import { ContainerStorage } from '../../support/images/container-storage.ts'
import {
  layoutFiles,
  plainLayer,
  rootfsLayer,
  tarOf,
  writeLayout,
} from '../../support/images/image-files.ts'
import { killWalks } from '../../support/kill-walks.ts'
import { expectNothing } from '../../support/remains.ts'

const storage = new ContainerStorage()
storage.makeBase('localhost/base')
const layers = [rootfsLayer(storage.files.path), plainLayer(tarOf({ name: 'a', content: 'x\n' }))]
writeLayout(storage.files.file('image'), layoutFiles(layers))
const oci = `oci:${storage.files.file('image')}`
afterAll(() => storage[Symbol.dispose]())

describe('a command that is killed', () => {
  let cli = new CliHome()
  afterEach(async () => {
    await cli[Symbol.asyncDispose]()
    cli = new CliHome()
  })

  test.each(killWalks.image)('at %s leaves nothing half in the cache', async (point) => {
    const killed = await cli.run(['create', '--from', oci], { env: { FORKPOINT_KILL_AT: point } })
    expect(killed.signal).toBe('SIGKILL')
    const { images } = placesOf(cli.home.path)
    expect(readdirSync(`${images}/entries`)).toEqual([])

    await cli.must('create', '--from', oci, '--name', 'web')
    expect(await cli.must('exec', 'web', '--', 'cat /a')).toBe('x\n')
    expect(readdirSync(`${images}/drafts`)).toEqual([])
    await cli.must('rm', 'web')
    await cli.must('prune', '--images')
    await expectNothing(cli.home)
  })

  test.each(killWalks.image)('at %s leaves nothing at all after a prune', async (point) => {
    await cli.run(['create', '--from', oci], { env: { FORKPOINT_KILL_AT: point } })
    await cli.must('prune', '--images')
    await expectNothing(cli.home)
  })

  test.each(killWalks['held-image'])('at %s keeps nothing in the engine', async (point) => {
    const before = storage.run('podman', 'images', '--quiet', '--no-trunc')
    const args = ['create', '--from', 'image:localhost/base']
    const killed = await cli.run(args, { env: { FORKPOINT_KILL_AT: point } })
    expect(killed.signal).toBe('SIGKILL')
    expect(storage.run('podman', 'images')).toContain(`forkpoint-${cli.home.key}`)
    await cli.must('prune', '--images')
    expect(storage.run('podman', 'images', '--quiet', '--no-trunc')).toBe(before)
    expect(storage.run('buildah', 'containers', '--quiet')).toBe('')
    await expectNothing(cli.home)
  })

  test.each(killWalks['prune-images'])('at %s is completed by the next prune', async (point) => {
    await cli.must('create', '--from', oci, '--name', 'web')
    await cli.must('rm', 'web')
    const killed = await cli.run(['prune', '--images'], { env: { FORKPOINT_KILL_AT: point } })
    expect(killed.signal).toBe('SIGKILL')
    await cli.must('prune', '--images')
    await expectNothing(cli.home)
  })
})
