import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readFile, streamFile, writeFile } from '../../../src/agent/files/file-content.ts'
import { type WatchEvent, watchFiles } from '../../../src/agent/files/file-watch.ts'
import {
  listFiles,
  makeDirectory,
  makeSymlink,
  removeFile,
  renameFile,
  setFileAttributes,
  statFile,
} from '../../../src/agent/files/files.ts'
import type { AgentConnection } from '../../../src/agent/wire/connection.ts'
import { ConflictError, NotFoundError, ResourceError } from '../../../src/model/errors.ts'
import { unless } from '../../support/evidence.ts'
import { TestAgent, whyNoAgent } from './run-agent.ts'

describe('files inside', unless(whyNoAgent), () => {
  let agent: TestAgent
  let connection: AgentConnection

  beforeAll(async () => {
    agent = await TestAgent.start()
    connection = await agent.connect()
  })
  afterAll(() => agent?.[Symbol.asyncDispose]())

  test('are read and written whole, with any bytes', async () => {
    const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, i) => (i * 7) % 256))
    await writeFile(connection, agent.path('bytes'), bytes, { mode: 0o640 })
    expect((await readFile(connection, agent.path('bytes'))).equals(bytes)).toBe(true)
    expect(statSync(agent.path('bytes')).mode & 0o7777).toBe(0o640)
  })

  test('are read in part', async () => {
    await writeFile(connection, agent.path('part'), '0123456789')
    const part = { offsetBytes: 3, lengthBytes: 4 }
    expect(String(await readFile(connection, agent.path('part'), part))).toBe('3456')
    const tail = { offsetBytes: 8, lengthBytes: 100 }
    expect(String(await readFile(connection, agent.path('part'), tail))).toBe('89')
    const beyond = { offsetBytes: 50 }
    expect(await readFile(connection, agent.path('part'), beyond)).toHaveLength(0)
  })

  test('are written from a stream and read as one', async () => {
    async function* source() {
      for (let i = 0; i < 50; i += 1) yield Buffer.alloc(100_001, i)
    }
    await writeFile(connection, agent.path('stream'), source())
    let bytes = 0
    for await (const chunk of streamFile(connection, agent.path('stream'))) bytes += chunk.length
    expect(bytes).toBe(5_000_050)
  })

  test('keep extended attributes until they are replaced', async () => {
    const path = agent.path('noted')
    const xattrs = { 'user.a': 'one=1', 'user.b': '' }
    await writeFile(connection, path, 'x', { xattrs })
    symlinkSync('noted', agent.path('noted-link'))
    const asked = { xattrs: true }
    expect((await statFile(connection, agent.path('noted-link'), asked)).xattrs).toEqual(xattrs)
    const itself = { ...asked, symlink: 'itself' } as const
    expect(await statFile(connection, agent.path('noted-link'), itself)).not.toHaveProperty(
      'xattrs',
    )
    expect(await statFile(connection, path)).not.toHaveProperty('xattrs')
    const listed = await listFiles(connection, agent.path('.'), asked)
    expect(listed.find(({ name }) => name === 'noted')).toMatchObject({ xattrs })
    await writeFile(connection, path, 'y')
    expect(await statFile(connection, path, asked)).not.toHaveProperty('xattrs')
  })

  test('with more extended attributes than an answer holds, or others than text, have some of them', async () => {
    const path = agent.path('hostile')
    await writeFile(connection, path, 'x')
    const script = `
import os, sys
os.setxattr(sys.argv[1], 'user.nul', b'a\\0b')
for i in range(10):
    try: os.setxattr(sys.argv[1], f'user.{i}-' + 200 * 'n', 300 * b'v')
    except OSError: break
os.setxattr(sys.argv[1], 'user.no=text', b'\\xff')`
    execFileSync('/usr/bin/python3', ['-c', script, path])
    const { xattrs = {} } = await statFile(connection, path, { xattrs: true })
    expect(Object.keys(xattrs).length).toBeGreaterThan(3)
    expect(Object.keys(xattrs)).not.toContain('user.nul')
    expect(JSON.stringify(xattrs).length).toBeLessThan(10_000)
  })

  test('that are empty are empty', async () => {
    await writeFile(connection, agent.path('empty'), '')
    expect(await readFile(connection, agent.path('empty'))).toHaveLength(0)
  })

  test('in /proc, which have no size, can be read', async () => {
    expect(String(await readFile(connection, '/proc/self/status'))).toMatch(/^Name:/)
  })

  test('get missing parent directories only on request', async () => {
    const path = agent.path('a/b/c')
    await expect(writeFile(connection, path, 'x')).rejects.toThrow(NotFoundError)
    await writeFile(connection, path, 'x', { makeParents: true })
    expect(readFileSync(path, 'utf8')).toBe('x')
  })

  test('are appended to, replaced, or created only if new, as requested', async () => {
    const path = agent.path('how')
    await writeFile(connection, path, 'one', { how: 'create' })
    await expect(writeFile(connection, path, 'no', { how: 'create' })).rejects.toThrow(
      ConflictError,
    )
    await writeFile(connection, path, ' two', { how: 'append' })
    expect(readFileSync(path, 'utf8')).toBe('one two')
    await writeFile(connection, path, 'three')
    expect(readFileSync(path, 'utf8')).toBe('three')
  })

  test('that are only half written keep their old content, and leave nothing behind', async () => {
    mkdirSync(agent.path('half'))
    const path = agent.path('half/file')
    await writeFile(connection, path, 'whole')
    async function* broken() {
      yield Buffer.alloc(1_000_000)
      throw new Error('the source broke')
    }
    await expect(writeFile(connection, path, broken())).rejects.toThrow('the source broke')
    expect(readFileSync(path, 'utf8')).toBe('whole')
    await expect.poll(() => readdirSync(agent.path('half'))).toEqual(['file'])
  })

  test('that are too large for memory are refused, with a remedy', async () => {
    writeFileSync(agent.path('huge'), '')
    truncateSync(agent.path('huge'), 2 ** 42)
    const reading = readFile(connection, agent.path('huge'), { maxBytes: 100_000 })
    const failure = await reading.catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(ResourceError)
    expect(failure).toMatchObject({ remedy: expect.stringContaining('stream') })
  })

  test('are listed with their types', async () => {
    const directory = agent.path('listed')
    mkdirSync(`${directory}/sub`, { recursive: true })
    writeFileSync(`${directory}/file`, '12345')
    chmodSync(`${directory}/file`, 0o750)
    symlinkSync('file', `${directory}/link`)
    const entries = await listFiles(connection, directory)
    const byName = new Map(entries.map((entry) => [entry.name, entry]))
    expect([...byName.keys()].toSorted()).toEqual(['file', 'link', 'sub'])
    expect(byName.get('file')).toMatchObject({ type: 'file', mode: 0o750, sizeBytes: 5 })
    expect(byName.get('file')?.mtimeNs).toBe(
      statSync(`${directory}/file`, { bigint: true }).mtimeNs,
    )
    expect(byName.get('link')).toMatchObject({ type: 'symlink', target: 'file' })
    expect(byName.get('sub')).toMatchObject({ type: 'directory' })
  })

  test('are listed, even ten thousand of them', async () => {
    mkdirSync(agent.path('many'))
    for (let i = 0; i < 10_000; i += 1) writeFileSync(agent.path(`many/entry-number-${i}`), '')
    expect(await listFiles(connection, agent.path('many'))).toHaveLength(10_000)
  })

  test('with names that are not UTF-8 keep them', async () => {
    mkdirSync(agent.path('latin'))
    writeFileSync(Buffer.concat([Buffer.from(agent.path('latin/caf')), Buffer.of(0xe9)]), 'bytes')
    const [entry] = await listFiles(connection, agent.path('latin'))
    const path = agent.path(`latin/${entry?.name}`)
    expect(String(await readFile(connection, path))).toBe('bytes')
  })

  test('are described through a symlink, or as the symlink itself', async () => {
    writeFileSync(agent.path('real'), 'abc')
    symlinkSync('real', agent.path('alias'))
    expect(await statFile(connection, agent.path('alias'))).toMatchObject({
      type: 'file',
      sizeBytes: 3,
    })
    const itself = await statFile(connection, agent.path('alias'), { symlink: 'itself' })
    expect(itself).toMatchObject({ type: 'symlink', target: 'real' })
  })

  test('are made, renamed and removed', async () => {
    await makeDirectory(connection, agent.path('d/e/f'), { parents: true, mode: 0o700 })
    await expect(makeDirectory(connection, agent.path('d'))).rejects.toThrow(ConflictError)
    await makeSymlink(connection, agent.path('d/to'), '/nowhere')
    await renameFile(connection, agent.path('d'), agent.path('moved'))
    expect((await statFile(connection, agent.path('moved/to'), { symlink: 'itself' })).target).toBe(
      '/nowhere',
    )
    await expect(removeFile(connection, agent.path('moved'))).rejects.toThrow(ConflictError)
    await removeFile(connection, agent.path('moved'), { recursive: true })
    await expect(statFile(connection, agent.path('moved'))).rejects.toThrow(NotFoundError)
    await expect(removeFile(connection, agent.path('moved'))).rejects.toThrow(NotFoundError)
    await removeFile(connection, agent.path('moved'), { force: true })
  })

  test('can get another owner, mode and time, exact to the nanosecond', async () => {
    await writeFile(connection, agent.path('attributes'), '')
    const mtimeNs = 1_234_567_890_123_456_789n
    const attributes = { mode: 0o4711, uid: 1234, gid: 4321, mtimeNs }
    await setFileAttributes(connection, agent.path('attributes'), attributes)
    const info = await statFile(connection, agent.path('attributes'))
    expect(info).toMatchObject(attributes)
  })

  test('that are missing are named in the error', async () => {
    const missing = agent.path('missing')
    const failure = await readFile(connection, missing).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(NotFoundError)
    expect(String(failure)).toContain(`cannot read ${missing}`)
  })

  describe('that are watched', () => {
    test('report what happens to them, as soon as the watch is set up', async () => {
      const directory = agent.path('watched')
      mkdirSync(directory)
      const watch = await watchFiles(connection, directory)
      await writeFile(connection, `${directory}/new`, 'x')
      await renameFile(connection, `${directory}/new`, `${directory}/renamed`)
      await removeFile(connection, `${directory}/renamed`)
      const seen: WatchEvent[] = []
      for await (const event of watch) {
        seen.push(event)
        if (event.kind === 'deleted' && event.path === 'renamed') break
      }
      const from = seen.find(({ kind, path }) => kind === 'moved-from' && path === 'new')
      const to = seen.find(({ kind, path }) => kind === 'moved-to' && path === 'renamed')
      expect(from?.cookie).toBe(to?.cookie)
      expect(from).toBeDefined()
    })

    test('recursively, also in directories made later', async () => {
      const directory = agent.path('deep')
      mkdirSync(`${directory}/old`, { recursive: true })
      const watch = await watchFiles(connection, directory, { recursive: true })
      mkdirSync(`${directory}/new/er`, { recursive: true })
      writeFileSync(`${directory}/old/one`, '')
      const paths = new Set<string>()
      setTimeout(() => writeFileSync(`${directory}/new/er/two`, ''), 200)
      for await (const event of watch) {
        paths.add(event.path)
        if (paths.has('old/one') && paths.has('new/er/two')) break
      }
      expect(paths).toContain('new')
    })

    test('until the caller stops', async () => {
      const closed = await watchFiles(connection, agent.path('.'))
      setTimeout(() => closed.close(), 50)
      for await (const _ of closed);
      const stop = new AbortController()
      const aborted = await watchFiles(connection, agent.path('.'), { signal: stop.signal })
      setTimeout(() => stop.abort(new Error('enough')), 50)
      const iterate = async () => {
        for await (const _ of aborted);
      }
      await expect(iterate()).rejects.toThrow('enough')
    })
  })
})
