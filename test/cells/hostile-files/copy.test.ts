import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Environment } from '../../../src/index.ts'
import { TemporaryDirectory } from '../../support/temporary-directory.ts'
import { TestHome } from '../../support/test-home.ts'

describe('copies from a hostile environment', () => {
  let home: TestHome
  let env: Environment
  let files: TemporaryDirectory

  beforeAll(async () => {
    home = new TestHome('hostile-copy')
    const fp = await home.open()
    env = await fp.create({ from: 'host', net: 'none' })
  })
  afterAll(() => home[Symbol.asyncDispose]())

  beforeEach(() => {
    files = new TemporaryDirectory()
    for (const name of ['out', 'victim', 'real']) mkdirSync(files.file(name))
  })
  afterEach(async () => {
    await env.exec('rm -rf /p')
    files[Symbol.dispose]()
  })

  async function inside(script: string): Promise<void> {
    const { exitCode, stderr } = await env.exec(script)
    expect({ exitCode, stderr: stderr.toString() }).toMatchObject({ exitCode: 0 })
  }

  /** An earlier copy brought the link `out/p/sub`, which leads to the host's own files. */
  async function bringLink(): Promise<void> {
    await inside(`mkdir /p && ln -s ${files.file('victim')} /p/sub`)
    await env.files.download('/p', files.file('out/p'))
    expect(readlinkSync(files.file('out/p/sub'))).toBe(files.file('victim'))
    await inside('rm /p/sub && mkdir -p /p/sub/deep && echo evil > /p/sub/planted')
  }

  test.each([
    ['onto it', '/p/sub', 'out/p/sub'],
    ['of a file below it', '/p/sub/planted', 'out/p/sub/planted'],
    ['of a directory below it', '/p/sub/deep', 'out/p/sub/deep'],
    ['of the whole tree again', '/p', 'out/p'],
  ])('a download %s does not go through a link from an earlier one', async (_, from, to) => {
    await bringLink()
    const copying = env.files.download(from, files.file(to))
    await expect(copying).rejects.toMatchObject({ code: 'conflict' })
    expect(readdirSync(files.file('victim'))).toEqual([])
  })

  test.each([
    ['export', () => env.export(files.file('out/p/sub/exported'), { paths: ['/p/sub'] })],
    ['export onto it', () => env.export(files.file('out/p/sub'), { paths: ['/p/sub'] })],
    ['apply', () => env.apply(files.file('out/p/sub'))],
    ['apply below it', () => env.apply(files.file('out/p/sub/there'))],
  ])('%s does not go through such a link either', async (_, work) => {
    await bringLink()
    mkdirSync(files.file('victim/there'))
    await expect(work()).rejects.toMatchObject({ code: 'conflict' })
    expect(readdirSync(files.file('victim'))).toEqual(['there'])
    expect(readdirSync(files.file('victim/there'))).toEqual([])
  })

  test('the refusal names the path that the link leads to', async () => {
    await bringLink()
    await expect(env.files.download('/p/sub', files.file('out/p/sub'))).rejects.toMatchObject({
      message: expect.stringContaining(files.file('out/p/sub')),
      remedy: expect.stringContaining(files.file('victim')),
    })
  })

  test('an upload does not follow a link from an earlier copy', async () => {
    await bringLink()
    writeFileSync(files.file('victim/secret'), 'of the host')
    for (const path of ['out/p/sub', 'out/p/sub/secret']) {
      const copying = env.files.upload(files.file(path), '/p/stolen')
      await expect(copying).rejects.toMatchObject({ code: 'conflict' })
    }
    expect((await env.exec('test -e /p/stolen')).exitCode).toBe(1)
  })

  test('a file replaces a link of the same name', async () => {
    await inside(`mkdir /p && echo new > /p/file`)
    symlinkSync(files.file('victim/file'), files.file('out/file'))
    await env.files.download('/p/file', files.file('out/file'))
    expect(readFileSync(files.file('out/file'), 'utf8')).toBe('new\n')
    expect(existsSync(files.file('victim/file'))).toBe(false)
  })

  test('a directory that is replaced by a link in the meantime leads nowhere', async () => {
    await inside('mkdir -p /p/a/b && for i in $(seq 40); do echo $i > /p/a/b/$i; done')
    const place = files.file('out/a/b')
    mkdirSync(place, { recursive: true })
    const swapper = new Worker(
      `const { renameSync, symlinkSync, unlinkSync } = require('node:fs')
       const { workerData: { place, aside, victim, stop } } = require('node:worker_threads')
       while (Atomics.load(stop, 0) === 0) {
         try { renameSync(place, aside); symlinkSync(victim, place) } catch {}
         try { unlinkSync(place); renameSync(aside, place) } catch {}
       }`,
      {
        eval: true,
        workerData: {
          place,
          aside: files.file('real/aside'),
          victim: files.file('victim'),
          stop: new Int32Array(new SharedArrayBuffer(4)),
        },
      },
    )
    const stopped = new Promise((resolve) => swapper.once('exit', resolve))
    try {
      for (let i = 0; i < 30; i += 1) {
        await env.files.download('/p/a', files.file('out/a')).catch(() => {})
        await env.files.download('/p/a/b', place).catch(() => {})
        await env.export(join(place, `export-${i}`), { paths: ['/p'] }).catch(() => {})
      }
    } finally {
      await swapper.terminate()
      await stopped
    }
    expect(readdirSync(files.file('victim'))).toEqual([])
    // Either way, what was copied went to the directory itself.
    renameSync(
      existsSync(files.file('real/aside')) ? files.file('real/aside') : place,
      files.file('found'),
    )
    expect(readdirSync(files.file('found'))).toContain('40')
  })
})
