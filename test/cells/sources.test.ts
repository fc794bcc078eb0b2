import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { InvalidInputError, NotFoundError } from '../../src/index.ts'
import { expectNothing } from '../support/remains.ts'
import { makeSmallRootfs } from '../support/small-rootfs.ts'
import { TemporaryDirectory } from '../support/temporary-directory.ts'
import { TestHome } from '../support/test-home.ts'

const home = new TestHome('sources')
afterAll(() => home[Symbol.asyncDispose]())
afterEach(() => home.removeAll())
const fp = await home.open()

describe('host', () => {
  test("shows the files of the host and starts in root's home directory", async () => {
    const env = await fp.create()
    const { stdout } = await env.exec('pwd; head -1 /etc/passwd')
    expect(stdout).toBe(`/root\n${readFileSync('/etc/passwd', 'utf8').split('\n')[0]}\n`)
  })

  test('keeps every change inside', async () => {
    using files = new TemporaryDirectory()
    writeFileSync(files.file('kept'), 'from the host')
    writeFileSync(files.file('changed'), 'from the host')
    const env = await fp.create()
    const { exitCode } = await env.exec('rm kept && echo inside > changed && echo new > made', {
      cwd: files.path,
    })
    expect(exitCode).toBe(0)
    expect(readFileSync(files.file('kept'), 'utf8')).toBe('from the host')
    expect(readFileSync(files.file('changed'), 'utf8')).toBe('from the host')
    expect(existsSync(files.file('made'))).toBe(false)
    expect((await env.exec(`cd ${files.path}; cat *`)).stdout).toBe('inside\nnew\n')
  })

  test("lets root inside change files that the host's root owns", async () => {
    const env = await fp.create()
    const { stdout, exitCode } = await env.exec(
      'stat -c %u:%g /etc/hosts; echo x >> /etc/hosts; stat -c %u:%g /etc/hosts',
    )
    expect([stdout, exitCode]).toEqual(['0:0\n0:0\n', 0])
    expect(readFileSync('/etc/hosts', 'utf8')).not.toMatch(/^x$/m)
  })

  test('starts with an empty /run, because the sockets there belong to the host', async () => {
    const env = await fp.create()
    expect((await env.exec('ls /run')).stdout).toBe('forkpoint\nlock\nshm\n')
  })
})

describe('dir:PATH', () => {
  test('starts commands in that directory, where its files are', async () => {
    using files = new TemporaryDirectory()
    writeFileSync(files.file('hello'), 'hi\n')
    const env = await fp.create({ from: `dir:${files.path}` })
    expect((await env.exec('pwd; cat hello')).stdout).toBe(`${files.path}\nhi\n`)
    const inProcess = await env.exec(['cat', 'hello'], { mode: 'process' })
    expect(inProcess.stdout).toBe('hi\n')
  })

  test('does not write to that directory on the host', async () => {
    using files = new TemporaryDirectory()
    writeFileSync(files.file('hello'), 'hi\n')
    const env = await fp.create({ from: { kind: 'dir', path: files.path } })
    await env.exec('echo changed > hello; mkdir -p deep/er; touch deep/er/file')
    expect(readFileSync(files.file('hello'), 'utf8')).toBe('hi\n')
    expect(existsSync(files.file('deep'))).toBe(false)
  })

  test('is found through a symlink', async () => {
    using files = new TemporaryDirectory()
    mkdirSync(files.file('real'))
    symlinkSync('real', files.file('link'))
    const env = await fp.create({ from: `dir:${files.file('link')}` })
    expect((await env.exec('pwd')).stdout).toBe(`${files.file('real')}\n`)
  })

  test('accepts a path with spaces, quotes and letters of any script', async () => {
    using files = new TemporaryDirectory()
    const path = files.file(`it's "ü" & $HOME;`)
    mkdirSync(path)
    const env = await fp.create({ from: `dir:${path}` })
    expect((await env.exec('pwd')).stdout).toBe(`${path}\n`)
  })
})

describe('rootfs:PATH', () => {
  test('shows only the files of that root file system', async () => {
    using files = new TemporaryDirectory()
    makeSmallRootfs(files.path)
    const env = await fp.create({ from: `rootfs:${files.path}` })
    const { stdout } = await env.exec('pwd; cat /etc/os-release; ls /usr/bin/python3 /var/tmp')
    expect(stdout).toBe('/root\nNAME="Small"\n')
  })

  test('is a computer with processes, devices and an identity', async () => {
    using files = new TemporaryDirectory()
    makeSmallRootfs(files.path)
    const env = await fp.create({ from: `rootfs:${files.path}`, name: 'small' })
    const { stdout } = await env.exec('id -u; echo > /dev/null; cat /proc/1/comm /etc/hostname')
    expect(stdout).toBe('0\nagent\nsmall\n')
  })

  test('does not write to that root', async () => {
    using files = new TemporaryDirectory()
    makeSmallRootfs(files.path)
    const env = await fp.create({ from: `rootfs:${files.path}` })
    await env.exec('rm /etc/os-release; touch /made')
    expect(existsSync(files.file('etc/os-release'))).toBe(true)
    expect(existsSync(files.file('made'))).toBe(false)
  })
})

describe('a source that cannot work is refused, and leaves nothing behind', () => {
  const refused = async (from: string, kind: typeof InvalidInputError | typeof NotFoundError) => {
    await expect(fp.create({ from, name: 'bad' })).rejects.toBeInstanceOf(kind)
    expect(await fp.list()).toEqual([])
    await expectNothing(home)
  }

  test('a path that does not exist', async () => {
    await refused('dir:/nowhere/at/all', NotFoundError)
    await refused('rootfs:/nowhere/at/all', NotFoundError)
  })

  test('a file in place of a directory', async () => {
    await refused('dir:/etc/passwd', InvalidInputError)
    await refused('rootfs:/etc/passwd', InvalidInputError)
  })

  test('a root without a shell', async () => {
    using files = new TemporaryDirectory()
    await refused(`rootfs:${files.path}`, InvalidInputError)
  })

  test('a directory on a file system that the environment will not see', async () => {
    using files = new TemporaryDirectory()
    execFileSync('mount', ['-t', 'tmpfs', 'forkpoint-test', files.path])
    try {
      mkdirSync(files.file('work'))
      await refused(`dir:${files.file('work')}`, InvalidInputError)
    } finally {
      execFileSync('umount', [files.path])
    }
  })

  test('a directory that the mask hides', async () => {
    await refused(`dir:${home.path}`, InvalidInputError)
  })

  test('a path with a NUL byte or a line break', async () => {
    await refused('dir:/tmp/a\0b', InvalidInputError)
    await refused('dir:/tmp/a\nb', InvalidInputError)
  })

  test('a path with a NUL byte given as an object', async () => {
    const from = { kind: 'dir', path: '/tmp\0/x' } as const
    await expect(fp.create({ from })).rejects.toBeInstanceOf(InvalidInputError)
  })

  test('an unknown source', async () => {
    await refused('floppy:a', InvalidInputError)
  })

  test('an image, a Dockerfile or an archive that is not there', async () => {
    await refused('oci:/nowhere/at/all', NotFoundError)
    await refused('archive:/nowhere/at/all', NotFoundError)
    await refused('dockerfile:/nowhere/at/all', NotFoundError)
    using files = new TemporaryDirectory()
    await expect(fp.create({ from: `dockerfile:${files.path}` })).rejects.toBeInstanceOf(
      NotFoundError,
    )
  })
})
