import { existsSync, lstatSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { HostDirectory } from '../../../src/agent/files/host-directory.ts'
import { openHostDirectory, openHostPlace } from '../../../src/agent/files/host-path.ts'
import { ConflictError } from '../../../src/model/errors.ts'

describe('a path of the host', () => {
  let place: string
  beforeEach(async () => {
    place = await realpath(mkdtempSync(join(tmpdir(), 'forkpoint-host-path-')))
    mkdirSync(join(place, 'a/b'), { recursive: true })
    symlinkSync(join(place, 'a'), join(place, 'link'))
    symlinkSync('loop', join(place, 'loop'))
  })
  afterEach(() => rmSync(place, { recursive: true, force: true }))

  test('leads to the directory that it names', async () => {
    for (const path of ['a/b', 'a//b/', 'a/./b', 'link/../a/b']) {
      await using opened = await openHostDirectory(`${place}/${path}`)
      expect((await opened.stat()).ino).toBe((await stat(join(place, 'a/b'))).ino)
    }
  })

  test.each(['link', 'link/', 'link/b', 'a/../link/b', 'loop', 'loop/x'])(
    'with a symlink in it is refused: %s',
    async (path) => {
      await expect(openHostDirectory(`${place}/${path}`)).rejects.toThrow(ConflictError)
    },
  )

  test('with a magic link of /proc in it is refused', async () => {
    await expect(openHostDirectory('/proc/self/root/etc')).rejects.toThrow(ConflictError)
    await expect(openHostDirectory('/proc/self/cwd')).rejects.toThrow(ConflictError)
  })

  test('that does not exist is not found', async () => {
    await expect(openHostDirectory(join(place, 'none'))).rejects.toMatchObject({ code: 'ENOENT' })
    await using open = await openHostPlace(join(place, 'none'))
    expect(open).toMatchObject({ name: 'none', path: join(place, 'none') })
  })

  test('may begin with a symlink of the root directory, which no copy puts there', async (ctx) => {
    if (!lstatSync('/bin').isSymbolicLink()) return ctx.skip('/bin is no symlink here')
    await using opened = await openHostDirectory('/bin')
    expect((await opened.stat()).ino).toBe((await stat('/bin')).ino)
    const { parent } = await HostDirectory.openParent('/forkpoint-test')
    await using root = parent
    await expect(root.putSymlink('forkpoint-test', '/etc', 0)).rejects.toThrow(ConflictError)
    expect(existsSync('/forkpoint-test')).toBe(false)
  })
})
