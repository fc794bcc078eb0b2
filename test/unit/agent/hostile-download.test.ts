import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { downloadTree } from '../../../src/agent/files/download.ts'
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
})
