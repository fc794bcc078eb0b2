// Images and containers in the storage of podman: used where they lie, and kept there.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { placesOf } from '../../../src/backends/native/places.ts'
import { NotFoundError, PrerequisiteError } from '../../../src/index.ts'
import { ContainerStorage } from '../../support/images/container-storage.ts'
import { expectNothing } from '../../support/remains.ts'
import { TestHome } from '../../support/test-home.ts'

const storage = new ContainerStorage()
storage.makeBase('localhost/base')
const home = new TestHome('engine-images')
afterAll(async () => {
  await home[Symbol.asyncDispose]()
  storage[Symbol.dispose]()
})
const fp = await home.open()
afterEach(async () => {
  await home.removeAll()
  await fp.pruneImages()
})

const from = 'image:localhost/base'
const own = `forkpoint-${home.key}`

const listed = () => storage.run('podman', 'images', '--format', '{{.Repository}}:{{.Tag}} {{.ID}}')
const containers = () =>
  storage.run('podman', 'ps', '--all', '--format', '{{.ID}} {{.Names}} {{.State}}')

/** Every file of the storage's layers, with its size and times. */
function fingerprint(): string {
  const args = ['overlay', '-path', '*/diff/*', '-printf', '%p %s %m %T@ %C@\n']
  return execFileSync('find', args, { cwd: storage.graphRoot, encoding: 'utf8' })
}

describe('image:REF', () => {
  test('has the files of the image, without a copy of its layers', async () => {
    const before = fingerprint()
    const env = await fp.create({ from })
    expect((await env.exec('cat /etc/os-release')).stdout).toBe('NAME="Small"\n')
    await env.exec('echo changed > /etc/os-release; rm /etc/group; touch /made')
    expect(fingerprint()).toBe(before)
    expect(existsSync(`${placesOf(home.path).images}/layers`)).toBe(true)
    const { containerImages } = await fp.usage()
    expect(containerImages).toMatchObject([{ names: [from], bytes: 0 }])
    expect(containerImages[0]?.heldBytes).toBeGreaterThan(1_000_000)
  })

  test('stays in the engine as long as it is used, whatever is pruned there', async () => {
    storage.run('buildah', 'tag', 'localhost/base', 'localhost/kept-by-us')
    const env = await fp.create({ from: 'image:localhost/kept-by-us' })
    storage.run('podman', 'untag', 'localhost/kept-by-us', 'localhost/kept-by-us')
    storage.run('podman', 'image', 'prune', '--all', '--force')
    storage.run('podman', 'container', 'prune', '--force')
    const [fork] = await env.fork(1)
    expect((await fork?.exec('ls /bin/cat'))?.stdout).toBe('/bin/cat\n')
    expect(storage.run('podman', 'images', '--format', '{{.Repository}}')).toContain(own)
  })

  test('is given back by a prune, which leaves the images of others alone', async () => {
    const before = listed()
    await (await fp.create({ from })).remove()
    expect(listed()).toContain(own)
    expect((await fp.pruneImages()).map(({ names }) => names)).toEqual([[from]])
    expect(listed()).toBe(before)
    expect(storage.run('buildah', 'containers', '--quiet')).toBe('')
    await expectNothing(home)
  })

  test('that nobody has is not found, with what to do', async () => {
    const failure = await fp
      .create({ from: 'image:localhost/nothing:here' })
      .catch((error) => error)
    expect(failure).toBeInstanceOf(NotFoundError)
    expect(failure.remedy).toContain('podman pull localhost/nothing:here')
  })

  test('works with layers that no engine shows, from an export', async () => {
    const bin = storage.files.file('only-buildah')
    mkdirSync(bin)
    symlinkSync('/usr/bin/buildah', `${bin}/buildah`)
    await using other = new TestHome('only-buildah')
    const second = await other.open()
    const variables = process.env.PATH
    // Whatever starts programs has the old PATH; only the search for programs finds less.
    await (await second.create()).remove()
    try {
      process.env.PATH = bin
      const env = await second.create({ from })
      expect((await env.exec('cat /etc/os-release')).stdout).toBe('NAME="Small"\n')
      expect((await second.usage()).containerImages).toMatchObject([{ heldBytes: 0 }])
      await env.remove()
      await second.pruneImages()
    } finally {
      process.env.PATH = variables
    }
  })
})

describe('container:NAME', () => {
  test('has the files of the container, which stays as it was', async () => {
    const container = storage.run('buildah', 'from', '--name', 'theirs', 'localhost/base')
    storage.run('buildah', 'rm', container)
    storage.run('podman', 'create', '--name', 'theirs', 'localhost/base', '/bin/bash')
    const mount = storage.run('podman', 'mount', 'theirs')
    execFileSync('sh', ['-c', `echo written > ${mount}/written; rm ${mount}/etc/group`])
    storage.run('podman', 'umount', 'theirs')
    const before = [containers(), fingerprint()]
    const env = await fp.create({ from: 'container:theirs' })
    expect((await env.exec('cat /written; ls /etc/group')).stdout).toBe('written\n')
    await env.exec('echo mine > /written')
    await env.remove()
    await fp.pruneImages()
    expect(storage.run('podman', 'diff', 'theirs')).toContain('A /written')
    expect([containers(), fingerprint()]).toEqual(before)
    storage.run('podman', 'rm', 'theirs')
  })

  test('that nobody knows is not found', async () => {
    await expect(fp.create({ from: 'container:nobody' })).rejects.toBeInstanceOf(NotFoundError)
  })
})

describe('without a program for images', () => {
  test('an image needs one, and says how to get it', async () => {
    await using other = new TestHome('no-image-program')
    const second = await other.open()
    await (await second.create()).remove()
    const variables = process.env.PATH
    try {
      process.env.PATH = '/nowhere'
      const failure = await second.create({ from }).catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(PrerequisiteError)
      expect(String((failure as PrerequisiteError).remedy)).toContain('apt install')
    } finally {
      process.env.PATH = variables
    }
  })

  test('the setting chooses, and its absence is named', async () => {
    await using other = new TestHome('chosen-image-program')
    const second = await other.open({ 'images.tool': 'skopeo' })
    const failure = await second.create({ from: 'container:theirs' }).catch((error) => error)
    expect(failure).toBeInstanceOf(PrerequisiteError)
    expect(failure.message).toContain('images.tool is skopeo')
  })
})

test('the storage that the tests use is their own', () => {
  expect(readFileSync(String(process.env.CONTAINERS_STORAGE_CONF), 'utf8')).toContain(
    storage.graphRoot,
  )
})
