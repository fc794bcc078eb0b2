// Environments from images that lie in files: directories of OCI, and archives.
import { readdirSync, writeFileSync } from 'node:fs'
import { zstdCompressSync } from 'node:zlib'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import {
  archiveOfFiles,
  type Config,
  gzippedLayer,
  type HandMadeLayer,
  layoutFiles,
  plainLayer,
  rootfsLayer,
  savedFiles,
  tarOf,
  writeLayout,
} from '../../support/images/image-files.ts'
import { TemporaryDirectory } from '../../support/temporary-directory.ts'
import { TestHome } from '../../support/test-home.ts'

const home = new TestHome('image-archives')
const files = new TemporaryDirectory()
afterAll(async () => {
  await home[Symbol.asyncDispose]()
  files[Symbol.dispose]()
})
afterEach(() => home.removeAll())
const fp = await home.open()
const base = rootfsLayer(files.path)

let count = 0

/** A directory with this image. */
function layout(layers: readonly HandMadeLayer[], config?: Config): string {
  const dir = files.file(`layout-${count++}`)
  writeLayout(dir, layoutFiles(layers, config))
  return dir
}

function archive(content: Buffer): string {
  const path = files.file(`archive-${count++}.tar`)
  writeFileSync(path, content)
  return path
}

const note = plainLayer(tarOf({ name: 'note', content: 'from a layer\n' }))

describe('an environment has the files of', () => {
  test('a directory of OCI', async () => {
    const env = await fp.create({ from: `oci:${layout([base, note])}` })
    expect((await env.exec('cat /note /etc/os-release')).stdout).toBe(
      'from a layer\nNAME="Small"\n',
    )
  })

  test('an archive of OCI', async () => {
    const path = archive(archiveOfFiles(layoutFiles([base, note])))
    const env = await fp.create({ from: `archive:${path}` })
    expect((await env.exec('cat /note')).stdout).toBe('from a layer\n')
  })

  test('an archive of docker save', async () => {
    const path = archive(archiveOfFiles(savedFiles([base, note])))
    const env = await fp.create({ from: { kind: 'archive', path } })
    expect((await env.exec('cat /note')).stdout).toBe('from a layer\n')
  })

  test('compressed layers', async () => {
    const tar = tarOf({ name: 'small', content: 'zstd\n' })
    const zstd = { tar, blob: zstdCompressSync(tar) }
    const gzip = gzippedLayer(tarOf({ name: 'other', content: 'gzip\n' }))
    const env = await fp.create({ from: `oci:${layout([base, gzip, zstd])}` })
    expect((await env.exec('cat /small /other')).stdout).toBe('zstd\ngzip\n')
  })
})

describe('a layer', () => {
  const below = plainLayer(
    tarOf(
      { name: 'deleted', content: 'x' },
      { name: 'dir/', type: '5', mode: 0o755 },
      { name: 'dir/old', content: 'x' },
      { name: 'again/', type: '5', mode: 0o755 },
      { name: 'again/old', content: 'x' },
      { name: 'kept', content: 'kept\n' },
    ),
  )

  test('deletes files of the layers below it', async () => {
    const above = plainLayer(
      tarOf(
        { name: '.wh.deleted' },
        { name: 'dir/', type: '5', mode: 0o755 },
        { name: 'dir/.wh..wh..opq' },
        { name: 'dir/new', content: 'x' },
        { name: '.wh.again' },
        { name: 'again/', type: '5', mode: 0o755 },
        { name: 'again/new', content: 'x' },
      ),
    )
    const env = await fp.create({ from: `oci:${layout([base, below, above])}` })
    const { stdout } = await env.exec('ls -d /deleted /kept; ls /dir /again')
    expect(stdout).toBe('/kept\n/again:\nnew\n\n/dir:\nnew\n')
  })

  test('is part of what diff and export compare with', async () => {
    const above = plainLayer(tarOf({ name: '.wh.deleted' }, { name: 'dir/.wh.old' }))
    const env = await fp.create({ from: `oci:${layout([base, below, above])}` })
    await env.exec('echo changed > /kept; touch /dir/new; rm -r /again')
    const snapshot = await env.snapshot()
    const changes = async () =>
      (await env.diff(undefined)).changes.map(({ path, kind }) => `${kind} ${path}`)
    expect(await changes()).toEqual([])
    await env.exec('rm /kept; mkdir /again; touch /again/other')
    expect(await changes()).toEqual(['added /again', 'added /again/other', 'deleted /kept'])
    await env.restore(snapshot)
    expect((await env.exec('cat /kept; ls /dir /again /deleted')).stdout).toBe(
      'changed\n/dir:\nnew\n',
    )
    await env.export(files.file('exported'), { paths: ['/dir', '/kept'] })
    expect(readdirSync(files.file('exported')).sort()).toEqual(['dir', 'kept'])
    expect(readdirSync(files.file('exported/dir'))).toEqual(['new'])
  })

  test('keeps modes, owners, times, hard links and symbolic links', async () => {
    const layer = plainLayer(
      tarOf(
        { name: 'tool', content: '#!/bin/sh\necho ran\n', mode: 0o4755, uid: 7 },
        { name: 'second', type: '1', target: 'tool' },
        { name: 'link', type: '2', target: '/note' },
        { name: 'note', content: 'read\n' },
      ),
    )
    const env = await fp.create({ from: `oci:${layout([base, layer])}` })
    const script = 'ls -ln /tool; [ /tool -ef /second ] && echo same; cat /link; /tool'
    const { stdout } = await env.exec(script)
    expect(stdout).toMatch(/^-rwsr-xr-x 2 7 0 .* Nov 14 +2023 \/tool\nsame\nread\nran\n$/)
  })

  test('leaves out devices in /dev, which an environment has of its own', async () => {
    const layer = plainLayer(
      tarOf({ name: 'dev/', type: '5', mode: 0o755 }, { name: 'dev/null', type: '3' }),
    )
    const env = await fp.create({ from: `oci:${layout([base, layer])}` })
    expect((await env.exec('echo x > /dev/null; echo $?')).stdout).toBe('0\n')
  })
})

describe('what the image says holds inside', () => {
  const passwd = 'root:x:0:0:root:/root:/bin/bash\nworker:x:1000:1000::/srv:/bin/bash\n'
  const users = plainLayer(
    tarOf({ name: 'etc/passwd', content: passwd }, { name: 'tmp/', type: '5', mode: 0o1777 }),
  )
  const config = {
    User: 'worker',
    Env: ['PATH=/usr/local/bin:/usr/bin:/bin', 'STAGE=built', 'odd.name=x'],
    WorkingDir: '/srv/app',
    Entrypoint: [
      '/bin/sh',
      '-c',
      'id -u > /tmp/who; echo "$STAGE $0" >> /tmp/who; exec sleep 1000',
    ],
    Cmd: ['word'],
    ExposedPorts: { '8080/tcp': {} },
    Volumes: { '/data': {} },
    Labels: { team: 'red', stage: 'image' },
    Healthcheck: { Test: ['CMD-SHELL', 'true'], Interval: 5_000_000_000 },
  }
  const from = { kind: 'oci', path: layout([base, users], config) } as const

  test('variables, directory, labels, ports and volumes', async () => {
    const env = await fp.create({ from, env: { MORE: 'yes' }, labels: { stage: 'ours' } })
    const { stdout } = await env.exec('pwd; echo $STAGE $MORE; ls -d /data')
    expect(stdout).toBe('/srv/app\nbuilt yes\n/data\n')
    const { labels, image } = await env.info()
    expect(labels).toEqual({ team: 'red', stage: 'ours' })
    expect(image).toMatchObject({
      user: 'worker',
      command: ['word'],
      ports: ['8080/tcp'],
      volumes: ['/data'],
      healthcheck: { command: ['/bin/sh', '-c', 'true'], intervalMs: 5000 },
    })
  })

  test('shells, terminals and processes run as its user unless they name another', async () => {
    const env = await fp.create({ from })
    expect((await env.exec('id -u; cd /tmp; touch mine; ls -n mine')).stdout).toMatch(
      /^1000\n.* 1000 /,
    )
    await env.terminal().write('id -u\n')
    await expect
      .poll(async () => (await env.terminal().screen()).lines.join('\n'))
      .toMatch(/^1000$/m)
    expect((await env.exec(['id', '-u'], { mode: 'process' })).stdout).toBe('1000\n')
    expect((await env.exec(['id', '-u'], { mode: 'process', user: 'root' })).stdout).toBe('0\n')
  })

  test('its entry point and command start on request, and in forks they run on', async () => {
    const env = await fp.create({ from })
    const command = await env.startImage()
    await expect
      .poll(async () => (await env.exec('cat /tmp/who')).stdout)
      .toBe('1000\nbuilt word\n')
    const [fork] = await env.fork(1)
    const commands = await fork?.commands()
    expect(commands?.some(({ id }) => id === command.id)).toBe(true)
    expect((await fork?.info())?.image).toEqual((await env.info()).image)
  })

  test('an image without a program says so', async () => {
    const env = await fp.create({ from: `oci:${layout([base])}` })
    await expect(env.startImage()).rejects.toThrow('no entry point')
  })
})
