import { readFileSync, statfsSync } from 'node:fs'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { ResourceError } from '../../src/index.ts'
import { patiently } from '../support/patiently.ts'
import { expectNothing } from '../support/remains.ts'
import { TestHome } from '../support/test-home.ts'

const home = new TestHome('limits')
afterAll(() => home[Symbol.asyncDispose]())
afterEach(() => home.removeAll())
const fp = await home.open()

const mib = 2 ** 20

/** Forks until it no longer can. */
const forking = `
import os, time
try:
    while os.fork() > 0:
        pass
except BlockingIOError:
    pass
time.sleep(600)
`

describe('processes', () => {
  test('a fork bomb ends at the limit, and the host and other environments continue', async () => {
    const bombed = await fp.create({ limits: { pids: 64 } })
    const other = await fp.create()
    const bomb = await bombed.spawn(['bash', '-c', 'b() { b | b & }; b; sleep 60'], {
      mode: 'process',
    })
    bomb.stdout.discard()
    bomb.stderr.discard()
    await expect.poll(async () => (await bombed.stats()).processes, patiently).toBeGreaterThan(50)
    for (let i = 0; i < 20; i += 1) {
      expect((await bombed.stats()).processes).toBeLessThanOrEqual(64)
      const startedAt = performance.now()
      expect((await other.exec('echo here')).stdout).toBe('here\n')
      // A busy machine takes its time; a host that is out of processes never answers.
      expect(performance.now() - startedAt).toBeLessThan(20_000)
    }
    await bombed.remove()
  })

  test('at the limit a command is refused with a clear error, and the next one runs', async () => {
    const env = await fp.create({ limits: { pids: 24 } })
    const fill = await env.spawn(['bash', '-c', 'for i in $(seq 40); do sleep 60 & done; wait'], {
      mode: 'process',
    })
    fill.stderr.discard()
    await expect.poll(async () => (await env.stats()).processes, patiently).toBe(24)
    await expect(env.exec(['true'], { mode: 'process' })).rejects.toBeInstanceOf(ResourceError)
    await fill.signal('SIGKILL')
    await expect.poll(async () => (await env.stats()).processes, patiently).toBeLessThan(24)
    expect((await env.exec(['echo', 'again'], { mode: 'process' })).stdout).toBe('again\n')
  })

  test('an environment at its limit can be branched, and the branch is at its limit, too', async () => {
    const env = await fp.create({ limits: { pids: 12 } })
    await env.files.write('/root/fill.py', forking)
    await env.exec('python3 /root/fill.py &')
    await expect.poll(async () => (await env.stats()).processes, patiently).toBe(12)
    const taken = await env.snapshot()
    const [copy] = await taken.fork(1)
    expect(await copy?.stats()).toMatchObject({ processes: 12, processLimit: 12 })
    await env.restore(taken)
    expect(await env.stats()).toMatchObject({ processes: 12, processLimit: 12 })
    await expect(env.exec(['true'], { mode: 'process' })).rejects.toBeInstanceOf(ResourceError)
  })
})

describe('memory', () => {
  test('a program that wants too much memory is killed, and its environment and others live on', async () => {
    const env = await fp.create({ limits: { memoryBytes: 96 * mib } })
    const other = await fp.create()
    await env.exec('export KEPT=yes')
    const hog = ['/usr/bin/python3', '-c', 'b = bytearray(1 << 30); print(len(b))']
    const { exitCode, signal, stdout } = await env.exec(hog, { mode: 'process' })
    expect([exitCode, signal, stdout]).toEqual([null, 'SIGKILL', ''])
    expect((await env.exec('echo $KEPT')).stdout).toBe('yes\n')
    expect((await other.exec('echo here')).stdout).toBe('here\n')
    const { memoryBytes, memoryLimitBytes } = await env.stats()
    expect(memoryLimitBytes).toBe(96 * mib)
    expect(memoryBytes).toBeLessThanOrEqual(96 * mib)
  })
})

describe('memory of the kernel', () => {
  /** The memory that datagrams wait in, on the whole machine. */
  const waiting = () =>
    Number(/^UDP: .* mem (\d+)/m.exec(readFileSync('/proc/net/sockstat', 'utf8'))?.[1]) * 4096

  const filling = `
import socket, time
sender, ends = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), []
for _ in range(1500):
    end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    end.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
    end.bind(('127.0.0.1', 0)); ends.append(end)
    for _ in range(7): sender.sendto(bytes(60000), end.getsockname())
print('full', flush=True)
time.sleep(600)
`

  test('data that waits in sockets is bounded, in a fork too', async () => {
    const env = await fp.create({ limits: { memoryBytes: 96 * mib } })
    await env.files.write('/root/fill.py', filling)
    const [fork] = await env.fork(1)
    for (const one of [env, fork]) {
      const before = waiting()
      await one?.exec(
        'python3 /root/fill.py > /tmp/out & until grep -q full /tmp/out; do sleep 0.1; done',
      )
      expect(waiting() - before).toBeLessThan(100 * mib)
    }
  })
})

describe('cpu', () => {
  test('a busy program gets about its share', async () => {
    const env = await fp.create({ limits: { cpus: 0.25 } })
    const spin = await env.spawn(['bash', '-c', 'while :; do :; done'], { mode: 'process' })
    const [began, before] = [performance.now(), (await env.stats()).cpuMs]
    await new Promise((resolve) => setTimeout(resolve, 2000))
    const used = (await env.stats()).cpuMs - before
    const share = used / (performance.now() - began)
    await spin.signal('SIGKILL')
    // The machine may be busy with other tests, so it may get less than its share, but never much more.
    expect(share).toBeGreaterThan(0.02)
    expect(share).toBeLessThan(0.4)
  })
})

describe('disk', () => {
  test('a full disk is reported inside, harms nobody outside, and is freed by removing files', async () => {
    const small = new TestHome('small-disk')
    try {
      const tiny = await small.open({ 'volume.size': '300m' })
      const env = await tiny.create({ name: 'full' })
      const freeBefore = statfsSync('/var/tmp').bavail * statfsSync('/var/tmp').bsize
      // To the last block: a write of many leaves room for a few.
      const fill =
        'dd if=/dev/zero of=/root/big bs=1M; echo code $?; dd if=/dev/zero of=/root/rest bs=1k'
      const filling = await env.exec(fill)
      expect(filling.stdout).toBe('code 1\n')
      expect(filling.stderr).toContain('No space left on device')
      const freeAfter = statfsSync('/var/tmp').bavail * statfsSync('/var/tmp').bsize
      // What others write to the same disk in the meantime counts too.
      expect(freeBefore - freeAfter).toBeLessThan(1024 * mib)

      await expect(env.files.write('/root/more', Buffer.alloc(mib))).rejects.toBeInstanceOf(
        ResourceError,
      )
      await expect(tiny.create()).rejects.toBeInstanceOf(ResourceError)
      expect((await tiny.list()).map(({ name }) => name)).toEqual(['full'])

      // A btrfs that was full to the last block gives space back with its next commit.
      const soon =
        'for i in $(seq 60); do echo ok > /root/small && break; sleep 1; done 2> /dev/null'
      const freed = await env.exec(`rm /root/big /root/rest; ${soon}; cat /root/small`)
      expect(freed.stdout).toBe('ok\n')
      await env.exec(fill)
      await env.remove()
      await expectNothing(small)
    } finally {
      await small[Symbol.asyncDispose]()
    }
  })
})

describe('removing', () => {
  test('a tree deeper than the longest path, and names that are not text, are removed too', async () => {
    const env = await fp.create()
    const script = `
import os
os.chdir('/root')
for i in range(600):
    os.mkdir('directory-with-a-long-name-%d' % i)
    os.chdir('directory-with-a-long-name-%d' % i)
os.chdir('/root')
open(b'\\xff\\xfe', 'w')
os.mkdir(b'\\x80dir'); open(b'\\x80dir/\\xff', 'w')
os.mkdir('locked'); open('locked/file', 'w'); os.chmod('locked', 0)
print('done')
`
    const made = await env.exec(['/usr/bin/python3', '-c', script], { mode: 'process' })
    expect([made.stdout, made.stderr]).toEqual(['done\n', ''])
    await env.remove()
    await expectNothing(home)
  })
})
