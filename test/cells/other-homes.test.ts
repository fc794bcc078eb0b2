import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { type Environment, Forkpoint } from '../../src/index.ts'
import { unmappedId } from '../../src/model/files/unmapped-id.ts'
import { TemporaryDirectory } from '../support/temporary-directory.ts'
import { TestHome } from '../support/test-home.ts'

const home = new TestHome('looking')
const files = new TemporaryDirectory()
afterAll(async () => {
  await home[Symbol.asyncDispose]()
  files[Symbol.dispose]()
})
afterEach(() => home.removeAll())
const fp = await home.open()

const path = files.file('other')

/** What root inside and a process in a shell can get from another home. */
async function seen(env: Environment, of = path): Promise<string> {
  const look = `ls -a ${of}; head -c 4 ${of}/volume.ext4 ${of}/db.sqlite; cd ${of} && echo entered`
  return (await env.exec(['bash', '-c', `${look}; true`], { mode: 'process' })).stdout
}

/** Another home, with an environment; removed afterwards. */
async function withOther(look: () => Promise<void>): Promise<void> {
  await using other = await Forkpoint.open({ settings: { home: path } })
  const env = await other.create()
  try {
    await look()
  } finally {
    await env.remove()
    await other.prune()
    rmSync(path, { recursive: true })
  }
}

describe('another home', () => {
  test('that is made later is closed, however closely an environment watches for it', async () => {
    const env = await fp.create()
    await env.spawn(['bash', '-c', `while :; do stat ${path} ${path}/* >/dev/null 2>&1; done`], {
      mode: 'process',
    })
    await withOther(async () => {
      expect(statSync(path)).toMatchObject({ uid: unmappedId, gid: unmappedId })
      expect(readFileSync(join(path, 'db.sqlite')).length).toBeGreaterThan(0)
      expect(await seen(env)).toBe('')
      const [fork] = await env.fork(1)
      expect(await seen(fork as Environment)).toBe('')
    })
  })

  test('of an earlier version is hidden, and closed as soon as it is used', async () => {
    const before = await fp.create()
    await withOther(async () => {
      for (const name of ['', 'db.sqlite', 'volume.ext4']) chownSync(join(path, name), 0, 0)
      chmodSync(path, 0o755)
      const env = await fp.create()
      expect(await seen(env)).toBe('')
      await using _again = await Forkpoint.open({ settings: { home: path } })
      expect(await seen(before)).toBe('')
      expect(await seen(env)).toBe('')
    })
  })

  test('in a directory with other files closes only its own files', async () => {
    const env = await fp.create()
    mkdirSync(path)
    writeFileSync(join(path, 'notes'), 'mine')
    await withOther(async () => {
      await using _again = await Forkpoint.open({ settings: { home: path } })
      expect(statSync(path)).toMatchObject({ uid: 0, gid: 0 })
      expect(statSync(join(path, 'notes'))).toMatchObject({ uid: 0, gid: 0 })
      const look = `cat ${path}/notes ${path}/volume.ext4 ${path}/db.sqlite; true`
      expect((await env.exec(['bash', '-c', look], { mode: 'process' })).stdout).toBe('mine')
    })
  })
})

test('a file behind a loop device is hidden', async () => {
  const image = files.file('disk.img')
  writeFileSync(image, 'bytes of a disk')
  truncateSync(image, 1 << 20)
  const device = execFileSync('losetup', ['--find', '--show', image], { encoding: 'utf8' }).trim()
  try {
    const env = await fp.create()
    const look = `ls ${image}; ls -d ${files.path}`
    expect((await env.exec(look)).stdout).toBe(`${files.path}\n`)
  } finally {
    execFileSync('losetup', ['--detach', device])
  }
})
