import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { type Environment, PrerequisiteError } from '../../src/index.ts'
import { patiently } from '../support/patiently.ts'
import { TestHome } from '../support/test-home.ts'

const home = new TestHome('disk-limits')
afterAll(() => home[Symbol.asyncDispose]())
afterEach(() => home.removeAll())
const fp = await home.open()

const mib = 2 ** 20
/** Metadata and partly used blocks: what the limit may be off by. */
const slack = 4 * mib

/** Writes as root inside until it is done or refused. */
async function write(env: Environment, name: string, count: number) {
  const { stdout, stderr } = await env.exec(
    `dd if=/dev/urandom of=/root/${name} bs=1M count=${count} oflag=sync; stat -c %s /root/${name}`,
  )
  return { bytes: Number(stdout.trim()), refused: stderr.includes('Disk quota exceeded') }
}

async function used(env: Environment): Promise<number> {
  return (await env.stats()).diskUsedBytes ?? Number.NaN
}

/** Fills it up and checks that it ends with the files that it may have. */
async function expectFull(env: Environment, limit: number): Promise<void> {
  const { refused } = await write(env, 'fill', 2 * (limit / mib))
  expect(refused).toBe(true)
  expect(Math.abs((await used(env)) - limit)).toBeLessThan(slack)
  await env.exec('rm /root/fill')
}

describe('a disk limit', () => {
  const limits = { diskBytes: 64 * mib }

  test('holds against root inside, and removed files make room again', async () => {
    const env = await fp.create({ limits })
    expect((await env.info()).limits.diskBytes).toBe(64 * mib)
    const first = await write(env, 'a', 100)
    expect(first.refused).toBe(true)
    expect(first.bytes).toBeGreaterThan(56 * mib)
    expect(first.bytes).toBeLessThanOrEqual(64 * mib)
    const stats = await env.stats()
    expect(stats.diskLimitBytes).toBe(64 * mib)
    expect(stats.diskUsedBytes).toBeGreaterThanOrEqual(first.bytes)
    expect(stats.diskUsedBytes).toBeLessThan(64 * mib + slack)
    expect((await env.exec('rm /root/a && echo gone')).stdout).toBe('gone\n')
    expect(await write(env, 'b', 40)).toEqual({ bytes: 40 * mib, refused: false })
  })

  test('counts small files, names and attributes, which take up metadata', async () => {
    const env = await fp.create({ limits: { diskBytes: 16 * mib } })
    const script = `
import os
try:
    for i in range(200000):
        with open('/root/%0100d' % i, 'w') as f: f.write('x' * 1500)
    print('all')
except OSError as error:
    print(error.errno, i)
`
    await env.files.write('/root/many.py', script)
    const [code, made] = (await env.exec('python3 /root/many.py')).stdout.trim().split(' ')
    expect(code).toBe('122')
    expect(Number(made)).toBeLessThan(16 * 1024)
  })

  test('is that of each fork, whatever it has inherited', async () => {
    const env = await fp.create({ limits })
    await write(env, 'a', 40)
    const taken = await env.snapshot()
    const [one, other] = await taken.fork(2)
    for (const fork of [one, other, env]) {
      if (!fork) throw new Error('there is no fork')
      expect(Math.abs((await used(fork)) - 40 * mib)).toBeLessThan(slack)
      await expectFull(fork, 64 * mib)
    }
    // What it inherited and deletes makes room.
    await one?.exec('rm /root/a')
    expect(await used(one as Environment)).toBeLessThan(slack)
    await expectFull(one as Environment, 64 * mib)
  })

  test('is right after a snapshot, when deleted files still belong to it', async () => {
    const env = await fp.create({ limits })
    await write(env, 'a', 50)
    await env.snapshot()
    await env.exec('rm /root/a')
    // Without `stats`: whoever has it open notices.
    await expect
      .poll(async () => (await write(env, 'b', 50)).refused, { ...patiently, interval: 1000 })
      .toBe(false)
    await env.exec('rm /root/b')
    await expectFull(env, 64 * mib)
  })

  test('is right after restore and promote', async () => {
    const env = await fp.create({ limits })
    await write(env, 'a', 50)
    const taken = await env.snapshot()
    await env.exec('rm /root/a')
    await env.restore(taken)
    expect(Math.abs((await used(env)) - 50 * mib)).toBeLessThan(slack)
    await expectFull(env, 64 * mib)
    const [fork] = await env.fork(1)
    await fork?.exec('rm /root/a')
    expect(await used(fork as Environment)).toBeLessThan(slack)
    await write(fork as Environment, 'c', 20)
    await env.promote(fork as Environment)
    expect(Math.abs((await used(env)) - 20 * mib)).toBeLessThan(slack)
    await expectFull(env, 64 * mib)
  })

  test('stays right if it is set again while files are written', async () => {
    const env = await fp.create({ limits: { diskBytes: 128 * mib } })
    // It takes a while to go through so many.
    await env.exec('mkdir /root/many && cd /root/many && seq 60000 | xargs touch')
    const writing = write(env, 'b', 50)
    let isWritten = false
    void writing.finally(() => {
      isWritten = true
    })
    while (!isWritten) await env.stats()
    expect((await writing).refused).toBe(false)
    await env.exec('rm /root/b')
    await expectFull(env, 128 * mib)
  })

  test('lets a full environment be snapshotted, forked, restored and released', async () => {
    const env = await fp.create({ limits })
    // A deleted file that is still open gets a name for the moment of the snapshot.
    await env.exec(
      'exec 7>/root/open; echo kept >&7; exec 8</root/open; ln /root/open /root/x; rm /root/open /root/x',
    )
    await write(env, 'a', 100)
    await env.exec('dd if=/dev/zero of=/root/rest bs=1k')
    const taken = await env.snapshot()
    const [fork] = await taken.fork(1)
    expect((await write(fork as Environment, 'b', 10)).refused).toBe(true)
    await env.restore(taken)
    expect((await write(env, 'b', 10)).refused).toBe(true)
    expect((await env.exec('cat <&8')).stdout).toBe('kept\n')
    await env.pause({ release: true })
    await env.resume()
    expect((await env.exec('rm /root/a && echo gone')).stdout).toBe('gone\n')
    await expect.poll(async () => (await write(env, 'b', 10)).refused, patiently).toBe(false)
  })
})

test('an environment that fills its share disturbs no neighbour, no snapshot and no answer', async () => {
  const full = await fp.create({ limits: { diskBytes: 64 * mib } })
  const neighbour = await fp.create({ limits: { diskBytes: 64 * mib } })
  const unlimited = await fp.create()
  await full.exec('echo before > /root/note')
  const before = await full.snapshot()
  // It keeps trying while the others work.
  const filling = await full.spawn(
    'while :; do dd if=/dev/zero of=/root/fill bs=64k; done 2> /dev/null',
  )
  await expect.poll(() => used(full), patiently).toBeGreaterThan(60 * mib)
  for (const other of [neighbour, unlimited]) {
    expect(await write(other, 'own', 40)).toEqual({ bytes: 40 * mib, refused: false })
    const taken = await other.snapshot()
    const [fork] = await taken.fork(1)
    expect((await fork?.exec('stat -c %s /root/own'))?.stdout).toBe(`${40 * mib}\n`)
  }
  const [earlier] = await before.fork(1)
  expect((await earlier?.exec('cat /root/note; ls /root/fill'))?.stdout).toBe('before\n')
  expect(await write(earlier as Environment, 'own', 40)).toEqual({
    bytes: 40 * mib,
    refused: false,
  })
  expect((await fp.list()).every(({ lastInfo }) => lastInfo.status === 'running')).toBe(true)
  await filling.signal('SIGKILL')
  await full.restore(before)
  expect(await write(full, 'own', 40)).toEqual({ bytes: 40 * mib, refused: false })
})

test('a limit on files that lie on ext4 is refused with what is missing', async () => {
  const other = new TestHome('disk-limits-ext4')
  try {
    const plain = await other.open({ volume: 'ext4' })
    const failure = await plain.create({ limits: { diskBytes: 64 * mib } }).catch((error) => error)
    expect(failure).toBeInstanceOf(PrerequisiteError)
    expect(failure.message).toContain('ext4')
    expect(failure.remedy).toContain('volume')
    expect(await plain.list()).toEqual([])
  } finally {
    await other[Symbol.asyncDispose]()
  }
})
