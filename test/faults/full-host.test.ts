// The disk below the volume of files runs full, because of others. The volume is a sparse file that could be
// larger; programs inside must find it full in time, and it must stay whole.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { placesOf } from '../../src/backends/native/places.ts'
import { type Environment, type Forkpoint, ResourceError } from '../../src/index.ts'
import { failureOf } from '../support/failure-of.ts'
import { freeBytes } from '../support/fill-volume.ts'
import { patiently } from '../support/patiently.ts'
import { mountSmallDisk } from '../support/small-disk.ts'
import { TestHome } from '../support/test-home.ts'

const mib = 2 ** 20
const home = new TestHome('full-host', { 'spares.count': 0, volume: 'btrfs' })
const places = placesOf(home.path)
const others = join(home.path, 'others')
let disk: Disposable
let fp: Forkpoint

beforeAll(async () => {
  disk = mountSmallDisk(home.path, 3000 * mib)
  fp = await home.open()
})

afterAll(async () => {
  rmSync(others, { recursive: true, force: true })
  await home.removeAll()
  await fp.close()
  disk[Symbol.dispose]()
  await home[Symbol.asyncDispose]()
})

/** Writes without an end, and tells whoever connects what happened, by the name of the error. */
const writer = `
import collections, errno, json, os, socket, threading, time
seen = collections.Counter()
def tell():
    server = socket.create_server(('127.0.0.1', 7777))
    while True:
        client, _ = server.accept()
        with client: client.sendall(json.dumps(seen).encode())
threading.Thread(target=tell, daemon=True).start()
n = 0
while True:
    n += 1
    try:
        with open('/root/work/f%d' % n, 'wb') as f:
            f.write(os.urandom(1 << 20)); f.flush(); os.fsync(f.fileno())
        seen['written'] += 1
    except OSError as e:
        seen[errno.errorcode[e.errno]] += 1
    time.sleep(0.02)
`

async function countsOf(env: Environment): Promise<Record<string, number>> {
  const { stdout } = await env.exec('cat < /dev/tcp/127.0.0.1/7777')
  return JSON.parse(stdout || '{}')
}

/** Takes space in steps, as a download would. */
async function fillDisk(leave: number): Promise<void> {
  mkdirSync(others, { recursive: true })
  for (;;) {
    const bytes = Math.min(freeBytes(home.path) - leave, 20 * mib)
    const args = ['-l', String(bytes), join(others, `part-${Math.random()}`)]
    // The writer may have taken the rest meanwhile.
    if (bytes <= 0 || spawnSync('fallocate', args).status !== 0) return
    await sleep(200)
  }
}

function isWritable(): boolean {
  const line = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .find((each) => each.includes(` ${places.files} `))
  return / rw[, ]/.test(line?.split(' - ')[1] ?? '')
}

test('programs find the volume full before the disk is, and continue when there is space again', async () => {
  const env = await fp.create({ name: 'busy' })
  await env.exec('mkdir /root/work; X=kept; echo kept > /root/file')
  await env.files.write('/root/writer.py', writer)
  const before = await env.snapshot({ name: 'before', durable: true })
  await env.exec('python3 /root/writer.py &')
  await expect.poll(async () => (await countsOf(env)).written ?? 0, patiently).toBeGreaterThan(20)

  await fillDisk(50 * mib)
  await expect.poll(async () => (await countsOf(env)).ENOSPC ?? 0, patiently).toBeGreaterThan(10)
  const failure = await failureOf(env.snapshot())
  expect(failure).toBeInstanceOf(ResourceError)
  expect(String(failure)).toMatch(/taking a snapshot: the disk of .* is full, with .* left/)
  expect(await failureOf(fp.create())).toBeInstanceOf(ResourceError)
  expect(await failureOf(before.fork())).toBeInstanceOf(ResourceError)

  await fillDisk(0)
  await sleep(3000)
  expect(await failureOf(env.snapshot())).toBeInstanceOf(ResourceError)
  execFileSync('sync', ['--file-system', places.files])
  expect(isWritable()).toBe(true)
  expect((await env.exec('echo $X $(cat /root/file)')).stdout).toBe('kept kept\n')

  rmSync(others, { recursive: true })
  const written = async () => (await countsOf(env)).written ?? 0
  const now = await written()
  await expect.poll(written, patiently).toBeGreaterThan(now + 100)
  expect((await countsOf(env)).EIO).toBe(undefined)
  await env.restore(before)
  expect((await env.exec('echo $X $(cat /root/file); ls /root/work | wc -l')).stdout).toBe(
    'kept kept\n0\n',
  )
  const next = await env.snapshot()
  const [fork] = await next.fork()
  expect((await fork?.exec('cat /root/file'))?.stdout).toBe('kept\n')
}, 300_000)
