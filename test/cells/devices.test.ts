import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { detectLayout } from '../../src/backends/native/cell/cgroup-layout.ts'
import type { Environment } from '../../src/index.ts'
import { cgroupsOf } from '../support/cell-processes.ts'
import { detachDevicePolicy, openInCgroup } from '../support/device-access.ts'
import { ended } from '../support/run-program.ts'
import { makeSmallRootfs } from '../support/small-rootfs.ts'
import { TemporaryDirectory } from '../support/temporary-directory.ts'
import { TestHome } from '../support/test-home.ts'

const home = new TestHome('devices')
const files = new TemporaryDirectory()
afterAll(async () => {
  files[Symbol.dispose]()
  await home[Symbol.asyncDispose]()
})
afterEach(() => home.removeAll())
const fp = await home.open()

const harmless = ['null', 'zero', 'full', 'random', 'urandom', 'ptmx'].map((name) => `/dev/${name}`)
const dangerous = ['/dev/kmsg', '/dev/loop0', '/dev/loop-control'].filter((path) =>
  existsSync(path),
)
const refused = [
  ...harmless.map((path) => `open ${path}`),
  ...dangerous.map((path) => `EPERM ${path}`),
]
const tried = [...harmless, ...dangerous]

const groupOf = (env: Environment) => cgroupsOf(home, env)[0] ?? ''

describe('the cgroup of an environment', () => {
  test('lets nobody open a device that is not in its /dev, from anywhere', async () => {
    const env = await fp.create()
    expect(openInCgroup(groupOf(env), tried)).toEqual(refused)
    const taken = await env.snapshot()
    const [fork] = await taken.fork(1)
    await env.restore(taken)
    for (const one of [env, fork as Environment]) {
      expect(openInCgroup(groupOf(one), tried)).toEqual(refused)
    }
  })

  test('does so for an environment that was started before this rule existed', async (ctx) => {
    if (detectLayout().devices?.version !== 2) ctx.skip('no BPF for cgroup v2')
    const env = await fp.create()
    const all = dirname(groupOf(env))
    expect(detachDevicePolicy(all)).toBe(1)
    chmodSync(all, 0o755)
    expect(openInCgroup(groupOf(env), ['/dev/kmsg'])).toEqual(['open /dev/kmsg'])
    await home.open()
    expect(openInCgroup(groupOf(env), tried)).toEqual(refused)
    expect((await env.exec('echo fine > /dev/null; echo $?')).stdout).toBe('0\n')
  })
})

test('device nodes in a root file system open no device', async () => {
  const root = files.file('rootfs')
  mkdirSync(root)
  makeSmallRootfs(root)
  execFileSync('mknod', ['-m', '666', join(root, 'log'), 'c', '1', '11'])
  execFileSync('mknod', ['-m', '666', join(root, 'disk'), 'b', '7', '0'])
  const env = await fp.create({ from: `rootfs:${root}` })
  const look = 'for d in /log /disk; do (: < $d) 2>/dev/null && echo open $d; done; echo end'
  expect((await env.exec(look)).stdout).toBe('end\n')
  const [fork] = await env.fork(1)
  expect((await fork?.exec(look))?.stdout).toBe('end\n')
})

describe('without cgroup v2', () => {
  const lifecycle = fileURLToPath(new URL('../faults/programs/lifecycle.ts', import.meta.url))
  // The volume is mounted first, so that it is the same for all.
  const hidden = `
set -e
mount --make-rprivate /sys/fs/cgroup
umount "$1"; shift
exec "$@"`

  async function withoutV2(mount: string, ...words: string[]): Promise<void> {
    const node = [process.execPath, '--disable-warning=ExperimentalWarning', lifecycle, ...words]
    const child = spawn('unshare', ['-m', 'sh', '-c', hidden, 'sh', mount, ...node], {
      env: { ...process.env, FORKPOINT_HOME: home.path },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    expect(await ended(child)).toMatchObject({ exitCode: 0, stderr: '' })
  }

  test('the controller of v1 does the same', async (ctx) => {
    const { unified, freezer } = detectLayout()
    const v1 = '/sys/fs/cgroup/devices'
    if (!existsSync(v1) || freezer === null || unified === null)
      return ctx.skip(`no cgroup v1 next to v2: freezer ${freezer}, unified ${unified}`)
    const first = await fp.create()
    await withoutV2(unified, 'create', 'old')
    const env = await fp.get('old')
    try {
      const name = basename(groupOf(env))
      const group = join(v1, 'forkpoint', home.key, name)
      expect(openInCgroup(group, tried)).toEqual(refused)
    } finally {
      await withoutV2(unified, 'remove', 'old')
    }
    await first.remove()
  })
})
