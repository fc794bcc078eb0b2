import {
  chmodSync,
  chownSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { requireTrustedTool } from '../../../src/backends/native/prerequisites.ts'
import { PrerequisiteError } from '../../../src/model/errors.ts'
import { openHome } from '../../../src/store/open-home.ts'
import { TemporaryDirectory } from '../../support/temporary-directory.ts'

let directory: TemporaryDirectory
let sudoUid: string | undefined

beforeEach(() => {
  directory = new TemporaryDirectory()
  sudoUid = process.env.SUDO_UID
  delete process.env.SUDO_UID
})

afterEach(() => {
  directory[Symbol.dispose]()
  if (sudoUid !== undefined) process.env.SUDO_UID = sudoUid
})

test('a home is made, private, with the directories above it', () => {
  expect(openHome(directory.file('a/b/home'))).toBe(directory.file('a/b/home'))
  expect(lstatSync(directory.file('a/b/home')).mode & 0o777).toBe(0o700)
  expect(openHome(directory.file('a/b/home'))).toBe(directory.file('a/b/home'))
})

test('every path of a home leads to the same one', () => {
  mkdirSync(directory.file('real/home'), { recursive: true })
  symlinkSync('real', directory.file('relative'))
  symlinkSync(directory.file('real/home'), directory.file('absolute'))
  symlinkSync('../absolute', directory.file('real/up'))
  for (const name of ['real/home', 'relative/home', 'absolute', 'real/up', 'relative/../real/up']) {
    expect(openHome(directory.file(name)), name).toBe(directory.file('real/home'))
  }
  expect(openHome(directory.file('relative/new'))).toBe(directory.file('real/new'))
})

const refused: Record<string, () => string> = {
  'a file': () => {
    writeFileSync(directory.file('file'), '')
    return directory.file('file')
  },
  'a directory below a file': () => {
    writeFileSync(directory.file('file'), '')
    return directory.file('file/home')
  },
  'a link that leads nowhere': () => {
    symlinkSync('missing', directory.file('link'))
    return directory.file('link')
  },
  'a link that leads to itself': () => {
    symlinkSync('link', directory.file('link'))
    return directory.file('link')
  },
  'a kernel file system': () => '/proc/forkpoint',
  'another kernel file system': () => '/sys/forkpoint/home',
  'a kernel file system behind a link': () => {
    symlinkSync('/proc/self', directory.file('link'))
    return directory.file('link/home')
  },
  'a directory of another user': () => made('home', 0o700, 1234),
  'a directory that everybody can write to': () => made('home', 0o777),
  'a sticky directory that everybody can write to': () => made('home', 0o1777),
  'a directory that a group can write to': () => made('home', 0o770, 0, 1234),
  'a directory below one of another user': () => `${made('theirs', 0o755, 1234)}/home`,
  'a directory below one that everybody can write to': () => `${made('all', 0o777)}/home`,
  'a link of another user': () => {
    mkdirSync(directory.file('home'))
    symlinkSync('home', directory.file('link'))
    lchownSync(directory.file('link'), 1234, 1234)
    return directory.file('link')
  },
}

test.each(Object.entries(refused))('%s is not a home', (_, prepare) => {
  const path = prepare()
  const error = failure(() => openHome(path))
  expect(error).toBeInstanceOf(PrerequisiteError)
  expect((error as Error).message).toContain(path)
})

test('the caller of sudo is trusted like root', () => {
  const path = `${made('theirs', 0o755, 1234)}/home`
  process.env.SUDO_UID = '1234'
  expect(openHome(path)).toBe(path)
})

test('a sticky directory may be above a home', () => {
  const path = `${made('tmp', 0o1777)}/home`
  expect(openHome(path)).toBe(path)
})

test('programs that others could replace are not run', () => {
  const tools = made('tools', 0o755)
  writeFileSync(directory.file('tools/criu'), '', { mode: 0o755 })
  requireTrustedTool('runtime', tools)
  requireTrustedTool('criu', directory.file('tools/criu'))
  requireTrustedTool('criu', directory.file('tools/missing/criu'))
  chmodSync(directory.file('tools/criu'), 0o777)
  expect(failure(() => requireTrustedTool('criu', directory.file('tools/criu')))).toMatchObject({
    code: 'prerequisite',
    remedy: expect.stringContaining('the setting criu'),
  })
  chmodSync(tools, 0o775)
  chownSync(tools, 0, 1234)
  for (const path of [tools, directory.file('tools/x'), directory.file('tools/missing/criu')]) {
    expect(failure(() => requireTrustedTool('runtime', path))).toBeInstanceOf(PrerequisiteError)
  }
})

function made(name: string, mode: number, uid = 0, gid = 0): string {
  const path = directory.file(name)
  mkdirSync(path)
  chownSync(path, uid, gid)
  chmodSync(path, mode)
  return path
}

function failure(work: () => unknown): unknown {
  try {
    return work()
  } catch (error) {
    return error
  }
}
