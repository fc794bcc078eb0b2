import { execFileSync } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
} from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Environment } from '../../../src/index.ts'
import { TemporaryDirectory } from '../../support/temporary-directory.ts'
import { TestHome } from '../../support/test-home.ts'

/** What code inside may leave for whoever copies it out. */
const make = `
import os, socket
os.mkdir("odd"); os.chdir("odd")
os.mkfifo("pipe")
socket.socket(socket.AF_UNIX).bind("socket")
open("setuid", "w").write("#!/bin/sh"); os.chmod("setuid", 0o6755)
os.mkdir("setgid"); os.chmod("setgid", 0o2777)
open("marked", "w").write("x")
try: os.setxattr("marked", "user.evil", b"1")
except OSError: pass
os.truncate(os.open("sparse", os.O_CREAT | os.O_WRONLY), 1 << 40)
open("../../outside", "w").write("not in the tree"); os.link("../../outside", "linked")
os.mkdir(b"caf\\xe9"); open(b"caf\\xe9/\\xff\\xfe\\n\\x1b[2J", "w").write("bytes")
os.symlink(b"\\xff/..", b"to-\\xff")
`

/** The bytes of every name below, sorted. */
function namesBelow(top: string): string[] {
  const found = execFileSync('find', ['.', '-mindepth', '1', '-printf', '%P\\0'], { cwd: top })
  return found
    .toString('latin1')
    .split('\0')
    .filter((name) => name !== '')
    .sort()
}

describe('odd files that code inside leaves', () => {
  let home: TestHome
  let env: Environment
  let files: TemporaryDirectory

  beforeAll(async () => {
    home = new TestHome('odd')
    files = new TemporaryDirectory()
    mkdirSync(files.file('p/w'), { recursive: true })
    const fp = await home.open()
    env = await fp.create({ from: `dir:${files.file('p/w')}`, net: 'none' })
    expect(await env.exec(`python3 -c '${make}'`)).toMatchObject({ exitCode: 0 })
  })
  afterAll(async () => {
    await home[Symbol.asyncDispose]()
    files[Symbol.dispose]()
  })

  async function applied(): Promise<string> {
    mkdirSync(files.file('applied'))
    const { leftOut } = await env.apply(files.file('applied'))
    expect(leftOut.map((path) => path.split('/').at(-1))).toEqual(['pipe', 'socket'])
    return files.file('applied/odd')
  }

  async function exported(): Promise<string> {
    const { leftOut } = await env.export(files.file('exported'))
    expect(leftOut.map((path) => path.split('/').at(-1))).toEqual(['pipe', 'socket'])
    return files.file('exported/odd')
  }

  async function copied(): Promise<string> {
    const { skipped } = await env.files.download(files.file('p/w/odd'), files.file('copied'))
    expect(skipped.map((path) => path.split('/').at(-1)).sort()).toEqual(['pipe', 'socket'])
    return files.file('copied')
  }

  test.each([
    ['apply', applied],
    ['export', exported],
    ['cp', copied],
  ])('are copied out by %s without harm', async (_, bring) => {
    const top = await bring()
    expect(existsSync(`${top}/pipe`)).toBe(false)
    expect(existsSync(`${top}/socket`)).toBe(false)
    expect(statSync(`${top}/setuid`).mode & 0o7777).toBe(0o755)
    expect(statSync(`${top}/setgid`).mode & 0o7777).toBe(0o777)
    expect(statSync(`${top}/linked`).nlink).toBe(1)
    expect(statSync(`${top}/sparse`).size).toBe(2 ** 40)
    expect(statSync(`${top}/sparse`).blocks).toBeLessThan(100)
    expect(lstatSync(`${top}/marked`).isFile()).toBe(true)
    const list = ['-c', 'import os, sys; print(os.listxattr(sys.argv[1]))', `${top}/marked`]
    expect(execFileSync('python3', list).toString()).toBe('[]\n')
    // Every name is what it was inside, byte by byte.
    expect(namesBelow(top)).toEqual([
      'caf\xe9',
      'caf\xe9/\xff\xfe\n\x1b[2J',
      'linked',
      'marked',
      'setgid',
      'setuid',
      'sparse',
      'to-\xff',
    ])
    const target = Buffer.concat([Buffer.from(`${top}/to-`), Buffer.of(0xff)])
    expect(execFileSync('python3', ['-c', READLINK, top]).toString('latin1')).toBe('\xff/..')
    expect(lstatSync(target).isSymbolicLink()).toBe(true)
  })

  test('have the ids that they have inside, if the caller asks for that', async () => {
    await env.exec('mkdir /ids && touch /ids/a /ids/b && chown 1000:7 /ids/a')
    await env.export(files.file('kept'), { paths: ['/ids'], owner: 'keep' })
    expect(statSync(files.file('kept/ids/a'))).toMatchObject({ uid: 1000, gid: 7 })
    expect(statSync(files.file('kept/ids/b'))).toMatchObject({ uid: 0, gid: 0 })
  })

  test('are shown by diff without controlling the terminal', async () => {
    const where = { paths: [files.file('p/w')] }
    const { changes } = await env.diff(undefined, where)
    const strange = changes.filter(({ path }) => !path.isWellFormed())
    expect(strange.map(({ path }) => path.split('/odd/')[1])).toEqual([
      'caf\udce9',
      'caf\udce9/\udcff\udcfe\n\u001b[2J',
      'to-\udcff',
    ])
    const { patch } = await env.diff(undefined, { ...where, patch: 'text' })
    expect(patch).toContain('/odd/caf\\351/\\377\\376\\n\\033[2J"')
    expect(patch).not.toContain('\u001b')
  })

  test('are copied in again with the same names', async () => {
    // On the way in, holes are read, and a terabyte of them takes long.
    truncateSync(files.file('copied/sparse'), 1_000_000)
    await env.files.upload(files.file('copied'), '/again')
    const { stdout } = await env.exec(
      'cd /again && find . -mindepth 1 -printf "%P\\0" | base64 -w0',
    )
    const names = Buffer.from(stdout.toString(), 'base64').toString('latin1').split('\0')
    expect(names.filter((name) => name !== '').sort()).toEqual(namesBelow(files.file('copied')))
    expect(readdirSync(files.path)).not.toContain('again')
    expect(readFileSync(files.file('copied/setuid'), 'utf8')).toBe('#!/bin/sh')
  })
})

const READLINK = `
import os, sys
sys.stdout.buffer.write(os.readlink(os.path.join(os.fsencode(sys.argv[1]), b"to-\\xff")))`
