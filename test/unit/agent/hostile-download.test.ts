import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { downloadTree } from '../../../src/agent/files/trees/download.ts'
import { openConnection } from '../../../src/agent/wire/connect.ts'
import { decodeFields, type Fields } from '../../../src/agent/wire/fields.ts'
import { encodeRecord } from '../../../src/agent/wire/records.ts'
import { Op } from '../../../src/agent/wire/wire.ts'
import { ConflictError, ResourceError } from '../../../src/model/errors.ts'
import { FakeAgent, type Script } from './fake-agent.ts'

const attributes = { mode: 0o755, size: 0, blocks: 0, mtimeNs: 0n, uid: 0, gid: 0, nlink: 1 }
const directory = { ...attributes, type: 2 }
const file = { ...attributes, type: 1 }

/** An agent whose every path is a directory with the entries that `list` makes up. */
function tree(list: (path: string) => Fields[]): Script {
  return (agent) => {
    agent.hello()
    agent.onOpen((stream, frame) => {
      const { op, path = '' } = decodeFields(frame.payload)
      if (op === Op.fileStat) agent.result(stream, directory)
      else if (op === Op.fileRead) agent.result(stream, { size: 0, mode: 0o6777, mtimeNs: 0n })
      else if (op === Op.fileList) {
        for (const entry of list(path)) agent.data(stream, 1, encodeRecord(entry))
        agent.result(stream, {})
      }
    })
  }
}

describe('a download from a hostile agent', () => {
  let place: string
  beforeEach(() => {
    place = mkdtempSync(join(tmpdir(), 'forkpoint-download-'))
    mkdirSync(join(place, 'outside'))
  })
  afterEach(() => rmSync(place, { recursive: true, force: true }))

  async function download(script: Script): Promise<unknown> {
    await using agent = await FakeAgent.start(script)
    await using connection = await openConnection(createConnection(agent.path))
    return await downloadTree(connection, '/tree', join(place, 'copy')).catch((error) => error)
  }

  const link = { ...attributes, type: 3, name: 'a', target: '../outside' }
  const folder = { ...directory, name: 'a' }
  test.each([
    ['a symlink and then a directory of the same name', [link, folder]],
    ['a directory and then a symlink of the same name', [folder, link]],
  ])('that lists %s writes nothing through the symlink', async (_, root) => {
    const script = tree((path) => (path === '/tree' ? root : [{ ...file, name: 'planted' }]))
    expect(await download(script)).toBeInstanceOf(ConflictError)
    expect(readdirSync(join(place, 'outside'))).toEqual([])
    expect(readdirSync(place)).toEqual(['outside'])
  })

  test('of an endlessly deep tree ends, and leaves nothing behind', async () => {
    const failure = await download(tree(() => [{ ...directory, name: 'd' }]))
    expect(failure).toBeInstanceOf(ResourceError)
    expect(readdirSync(place)).toEqual(['outside'])
  })

  test('that lists directories without end is refused, and leaves nothing behind', async () => {
    const endless = Array.from({ length: 200_002 }, (_, at) => ({ ...directory, name: `d${at}` }))
    expect(await download(tree(() => endless))).toBeInstanceOf(ResourceError)
    expect(readdirSync(place)).toEqual(['outside'])
  })

  test.each(['..', '.', '', '../outside/planted', '/etc/planted'])(
    'that lists an entry named "%s" is refused completely',
    async (name) => {
      const failure = await download(
        tree(() => [
          { ...file, name: 'fine' },
          { ...file, name },
        ]),
      )
      expect(String(failure)).toMatch(/entry named/)
      expect(readdirSync(place)).toEqual(['outside'])
      expect(readdirSync(join(place, 'outside'))).toEqual([])
    },
  )

  test('that repeats a file name keeps one of them', async () => {
    const twice = [
      { ...file, name: 'twin' },
      { ...file, name: 'twin' },
    ]
    expect(await download(tree(() => twice))).toMatchObject({ files: 2 })
    expect(readdirSync(join(place, 'copy'))).toEqual(['twin'])
  })

  describe('that sends a tree over one stream', () => {
    const content = Buffer.from('planted')
    const planted = (path: string) => ({ ...file, path, content })
    const folderAt = (path: string) => ({ ...directory, path })
    const linkAt = (path: string) => ({ ...attributes, type: 3, path, target: '../outside' })

    test.each([
      ['an entry through its own symlink', [linkAt('a'), planted('a/planted')]],
      ['a directory in place of its symlink', [linkAt('a'), folderAt('a'), planted('a/planted')]],
      ['a symlink in place of its directory', [folderAt('a'), linkAt('a'), planted('a/planted')]],
      ['an entry above the tree', [planted('../outside/planted')]],
      ['an absolute path', [planted('/etc/planted')]],
      ['an entry of a directory that it never sent', [planted('a/planted')]],
      ['an entry of a directory that it has left', [folderAt('a'), planted('b'), planted('a/c')]],
      ['a name that is empty', [folderAt('a'), planted('a/')]],
      ['a directory above itself', [folderAt('a'), folderAt('a/..'), planted('a/../planted')]],
      ['the same file twice', [planted('twin'), planted('twin')]],
    ])('with %s is refused, and leaves nothing behind', async (_, records) => {
      expect(await download(wholeTree(records))).toBeInstanceOf(Error)
      expect(readdirSync(place)).toEqual(['outside'])
      expect(readdirSync(join(place, 'outside'))).toEqual([])
    })

    test('that never gets less deep is refused, and leaves nothing behind', async () => {
      const deep = Array.from({ length: 300 }, (_, at) =>
        folderAt(
          Array(at + 1)
            .fill('d')
            .join('/'),
        ),
      )
      expect(await download(wholeTree(deep))).toBeInstanceOf(ResourceError)
      expect(readdirSync(place)).toEqual(['outside'])
    })

    test('and ends in the middle of a record leaves nothing behind', async () => {
      const script = wholeTree([folderAt('a'), planted('a/b')], { cut: 5 })
      expect(await download(script)).toBeInstanceOf(Error)
      expect(readdirSync(place)).toEqual(['outside'])
    })

    test('loses set-user-id bits on the way out', async () => {
      const risky = { ...planted('tool'), mode: 0o6755 }
      expect(await download(wholeTree([risky]))).toMatchObject({ files: 1, bytes: 7 })
      expect(statSync(join(place, 'copy/tool')).mode & 0o7777).toBe(0o755)
    })
  })
})

/** An agent that is new enough to send a whole tree, and sends these records. */
function wholeTree(records: readonly Fields[], { cut = 0 } = {}): Script {
  return (agent) => {
    agent.hello({ version: 1, features: 1 })
    agent.onOpen((stream, frame) => {
      const { op } = decodeFields(frame.payload)
      if (op === Op.fileStat) agent.result(stream, directory)
      else if (op === Op.treeRead) {
        const bytes = Buffer.concat(records.map(encodeRecord))
        agent.data(stream, 1, bytes.subarray(0, bytes.length - cut))
        agent.result(stream, {})
      }
    })
  }
}
