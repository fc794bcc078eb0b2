import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { downloadTree } from '../../../src/agent/files/trees/download.ts'
import type { TransferProgress } from '../../../src/agent/files/trees/transfer.ts'
import { uploadTree } from '../../../src/agent/files/trees/upload.ts'
import type { AgentConnection } from '../../../src/agent/wire/connection.ts'
import { ConflictError, NotFoundError } from '../../../src/model/errors.ts'
import { unless } from '../../support/evidence.ts'
import { describeTree } from './describe-tree.ts'
import { TestAgent, whyNoAgent } from './run-agent.ts'

/** Trees with one of everything that a copy must keep. */
function makeTree(root: string): void {
  mkdirSync(`${root}/deep/er/est`, { recursive: true })
  mkdirSync(`${root}/empty`)
  writeFileSync(`${root}/plain.txt`, 'plain')
  writeFileSync(`${root}/script.sh`, '#!/bin/sh\n')
  chmodSync(`${root}/script.sh`, 0o755)
  writeFileSync(`${root}/secret`, 'x')
  chmodSync(`${root}/secret`, 0o600)
  writeFileSync(`${root}/deep/er/est/file`, Buffer.alloc(300_000, 'q'))
  for (let i = 0; i < 200; i += 1) writeFileSync(`${root}/deep/many-${i}`, `number ${i}`)
  symlinkSync('../plain.txt', `${root}/deep/relative`)
  symlinkSync('/etc/passwd', `${root}/absolute`)
  symlinkSync('no/where', `${root}/dangling`)
  chmodSync(`${root}/empty`, 0o711)
  utimesSync(`${root}/plain.txt`, 1_000_000_000, 1_000_000_000.5)
  utimesSync(`${root}/deep/er/est`, 1_100_000_000, 1_100_000_000)
  utimesSync(`${root}/deep/er`, 1_200_000_000, 1_200_000_000)
  utimesSync(`${root}/deep`, 1_300_000_000, 1_300_000_000)
  utimesSync(root, 1_400_000_000, 1_400_000_000)
}

describe('a copy', unless(whyNoAgent), () => {
  let agent: TestAgent
  let connection: AgentConnection

  beforeAll(async () => {
    agent = await TestAgent.start()
    connection = await agent.connect()
    makeTree(agent.path('tree'))
  })
  afterAll(() => agent?.[Symbol.asyncDispose]())

  test('of a tree keeps content, permissions, symlinks and times, in and out', async () => {
    const up = await uploadTree(connection, agent.path('tree'), agent.path('inside'))
    expect(up).toMatchObject({ files: 204, directories: 5, symlinks: 3, skipped: [] })
    expect(describeTree(agent.path('inside'))).toEqual(describeTree(agent.path('tree')))
    const down = await downloadTree(connection, agent.path('inside'), agent.path('back'))
    expect(down).toEqual(up)
    expect(describeTree(agent.path('back'))).toEqual(describeTree(agent.path('tree')))
  })

  test('of one file keeps the same', async () => {
    await uploadTree(connection, agent.path('tree/script.sh'), agent.path('single/inside.sh'))
    await downloadTree(connection, agent.path('single/inside.sh'), agent.path('single.sh'))
    expect(describeTree(agent.path('single.sh'))).toEqual(
      describeTree(agent.path('tree/script.sh')),
    )
  })

  test('into an existing tree adds to it and replaces files of the same name', async () => {
    mkdirSync(agent.path('merge/deep'), { recursive: true })
    writeFileSync(agent.path('merge/kept'), 'kept')
    writeFileSync(agent.path('merge/plain.txt'), 'old')
    writeFileSync(agent.path('merge/dangling'), 'a file where a symlink will be')
    await uploadTree(connection, agent.path('tree'), agent.path('merge'))
    expect(readFileSync(agent.path('merge/kept'), 'utf8')).toBe('kept')
    expect(readFileSync(agent.path('merge/plain.txt'), 'utf8')).toBe('plain')
    mkdirSync(agent.path('merge-out'))
    writeFileSync(agent.path('merge-out/mine'), 'mine')
    await downloadTree(connection, agent.path('merge'), agent.path('merge-out'))
    expect(readFileSync(agent.path('merge-out/mine'), 'utf8')).toBe('mine')
    expect(readFileSync(agent.path('merge-out/kept'), 'utf8')).toBe('kept')
  })

  test('of a sparse file stays sparse', async () => {
    const path = agent.path('sparse')
    const file = openSync(path, 'w')
    writeSync(file, Buffer.alloc(100_000, 'a'), 0, 100_000, 50_000_000)
    closeSync(file)
    truncateSync(path, 200_000_000)
    const { bytes } = await uploadTree(connection, path, agent.path('sparse-in'))
    expect(bytes).toBeLessThan(500_000)
    await downloadTree(connection, agent.path('sparse-in'), agent.path('sparse-out'))
    for (const copy of ['sparse-in', 'sparse-out']) {
      const { size, blocks } = statSync(agent.path(copy))
      expect(size).toBe(200_000_000)
      expect(blocks * 512).toBeLessThan(2_000_000)
      expect(spawnSync('cmp', [path, agent.path(copy)]).status).toBe(0)
    }
  })

  test('of a 300 MB file takes bounded memory, and reports its progress', async () => {
    const path = agent.path('large')
    const make = 'head -c 300000000 /dev/urandom'
    expect(spawnSync('sh', ['-c', `${make} > ${path}`]).status).toBe(0)
    const before = process.memoryUsage().rss
    let peak = 0
    let last: TransferProgress | undefined
    const onProgress = (progress: TransferProgress) => {
      last = progress
      peak = Math.max(peak, process.memoryUsage().rss - before)
    }
    await uploadTree(connection, path, agent.path('large-in'), { onProgress })
    expect(last).toMatchObject({ bytes: 300_000_000, files: 1 })
    await downloadTree(connection, agent.path('large-in'), agent.path('large-out'), { onProgress })
    expect(spawnSync('cmp', [path, agent.path('large-out')]).status).toBe(0)
    expect(peak).toBeLessThan(200_000_000)
    for (const name of ['large', 'large-in', 'large-out']) rmSync(agent.path(name))
  })

  test('inside belongs to root, or to the user that the caller names', async () => {
    writeFileSync(agent.path('whose'), '')
    await uploadTree(connection, agent.path('whose'), agent.path('roots'))
    expect(statSync(agent.path('roots'))).toMatchObject({ uid: 0, gid: 0 })
    const owner = { uid: 1000, gid: 1001 }
    await uploadTree(connection, agent.path('tree'), agent.path('theirs'), { owner })
    for (const name of ['theirs', 'theirs/plain.txt', 'theirs/deep/er']) {
      expect(statSync(agent.path(name))).toMatchObject(owner)
    }
  })

  test('outside has no setuid or setgid bits', async () => {
    writeFileSync(agent.path('rootly'), '')
    chmodSync(agent.path('rootly'), 0o6755)
    await downloadTree(connection, agent.path('rootly'), agent.path('rootly-out'))
    expect(statSync(agent.path('rootly-out')).mode & 0o7777).toBe(0o755)
  })

  test('leaves out sockets, pipes and devices, and says so', async () => {
    mkdirSync(agent.path('odd'))
    writeFileSync(agent.path('odd/file'), '')
    spawnSync('mkfifo', [agent.path('odd/pipe')])
    const up = await uploadTree(connection, agent.path('odd'), agent.path('odd-in'))
    expect(up).toMatchObject({ files: 1, skipped: [agent.path('odd/pipe')] })
    const down = await downloadTree(connection, agent.path('odd'), agent.path('odd-out'))
    expect(down).toMatchObject({ files: 1, skipped: [agent.path('odd/pipe')] })
  })

  test('with names that are not UTF-8 keeps them', async () => {
    mkdirSync(agent.path('latin'))
    const name = Buffer.concat([Buffer.from('caf'), Buffer.of(0xe9)])
    writeFileSync(Buffer.concat([Buffer.from(`${agent.path('latin')}/`), name]), 'bytes')
    await uploadTree(connection, agent.path('latin'), agent.path('latin-in'))
    await downloadTree(connection, agent.path('latin-in'), agent.path('latin-out'))
    const names = readdirSync(agent.path('latin-out'), { encoding: 'buffer' })
    expect(names).toEqual([name])
  })

  test('out never goes through a symlink below its destination', async () => {
    mkdirSync(agent.path('trap'))
    mkdirSync(agent.path('outside'))
    symlinkSync(agent.path('outside'), agent.path('trap/deep'))
    symlinkSync(agent.path('outside/planted'), agent.path('trap/plain.txt'))
    const downloading = downloadTree(connection, agent.path('tree'), agent.path('trap'))
    await expect(downloading).rejects.toThrow(ConflictError)
    expect(readdirSync(agent.path('outside'))).toEqual([])
    rmSync(agent.path('trap/deep'))
    await downloadTree(connection, agent.path('tree'), agent.path('trap'))
    expect(readdirSync(agent.path('outside'))).toEqual([])
    expect(readFileSync(agent.path('trap/plain.txt'), 'utf8')).toBe('plain')
  })

  test('that fails or is aborted leaves nothing behind', async () => {
    mkdirSync(agent.path('clean'))
    const stopAt = (files: number) => {
      const stop = new AbortController()
      const onProgress = (progress: TransferProgress) => {
        if (progress.files > files) stop.abort(new Error('enough'))
      }
      return { signal: stop.signal, onProgress }
    }
    const up = uploadTree(connection, agent.path('tree'), agent.path('clean/in'), stopAt(20))
    await expect(up).rejects.toThrow('enough')
    const down = downloadTree(connection, agent.path('tree'), agent.path('clean/out'), stopAt(20))
    await expect(down).rejects.toThrow('enough')
    await expect.poll(() => readdirSync(agent.path('clean'))).toEqual([])
  })

  test('of a missing file says on which side it is missing', async () => {
    await expect(uploadTree(connection, '/no/such', agent.path('x'))).rejects.toThrow(NotFoundError)
    await expect(downloadTree(connection, '/no/such', agent.path('x'))).rejects.toThrow(
      NotFoundError,
    )
    expect(existsSync(agent.path('x'))).toBe(false)
  })

  test('of five thousand small files in fifty directories is complete', async () => {
    for (let d = 0; d < 50; d += 1) {
      mkdirSync(agent.path(`small/${d}`), { recursive: true })
      for (let i = 0; i < 100; i += 1) writeFileSync(agent.path(`small/${d}/${i}`), `${d} ${i}`)
    }
    await uploadTree(connection, agent.path('small'), agent.path('small-in'))
    await downloadTree(connection, agent.path('small-in'), agent.path('small-out'))
    expect(describeTree(agent.path('small-out'))).toEqual(describeTree(agent.path('small')))
  })
})
