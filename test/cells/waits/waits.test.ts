// Programs that wait in a system call while their environment is snapshotted, forked and restored.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Environment, Snapshot } from '../../../src/index.ts'
import { TestHome } from '../../support/test-home.ts'
import { compileWaits, faultsIn, startWaits, type Where, waitsEnded } from '../../support/waits.ts'

const home = new TestHome('waits')
afterAll(() => home[Symbol.asyncDispose]())

let program: Buffer
beforeAll(() => {
  program = compileWaits()
})

const seconds = 8
const modes = ['process', 'thread'] as const

/** Writes a megabyte with one call, while another thread reads a little at a time until it may hurry. */
const slowPipe = `
import os, threading, time
readable, writable = os.pipe()
sent = bytes(i * 7 + i // 4096 & 255 for i in range(1 << 20))
got = b''
def read():
    global got
    while len(got) < len(sent):
        got += os.read(readable, 4096)
        if not os.path.exists('/root/hurry'): time.sleep(0.1)
reader = threading.Thread(target=read)
reader.start()
open('/root/begun', 'w').close()
count = os.write(writable, sent)
os.close(writable)
reader.join(60)
with open('/root/part', 'w') as end: print(count, got == sent, file=end)
os.rename('/root/part', '/root/end')
`
const endOfWrite = 'touch /root/hurry; while ! [ -e /root/end ]; do sleep 0.1; done; cat /root/end'

async function forkOf(snapshot: Snapshot): Promise<Environment> {
  const [fork] = await snapshot.fork()
  if (!fork) throw new Error('no fork')
  return fork
}

/** What is wrong with the waits of all programs inside, once they have ended. */
async function faults(env: Environment, where: Where): Promise<string[]> {
  const all = await Promise.all(modes.map((mode) => waitsEnded(env, mode)))
  return all.flatMap((lines) => faultsIn(lines, seconds, where))
}

/** Since a moment before the snapshot: a copy may have stood still that long. */
function copySince(began: number): Where {
  return { kind: 'copy', stoodStill: (performance.now() - began) / 1000 }
}

/** The last stop of an environment that was started then has just ended. */
function originalSince(started: number): Where {
  return { kind: 'original', stoppedUntil: (performance.now() - started) / 1000 }
}

// All at the same time: each does little but wait.
describe.concurrent('while an environment is captured', () => {
  test('every wait ends in time and as it should, through three snapshots, in forks and after a restore', async () => {
    const fp = await home.open()
    const env = await fp.create({ net: 'none' })
    const started = performance.now()
    for (const mode of modes) await startWaits(env, program, { mode, seconds })
    const began = performance.now()
    const first = await env.snapshot()
    const early = await forkOf(first)
    await env.snapshot()
    const third = await env.snapshot()
    const original = originalSince(started)
    const late = await forkOf(third)
    const forked = copySince(began)
    expect(await faults(env, original)).toEqual([])
    expect(await faults(early, forked)).toEqual([])
    expect(await faults(late, forked)).toEqual([])
    await env.restore(third)
    expect(await faults(env, copySince(began))).toEqual([])
  })

  test('waits also continue where a snapshot replaces the environment', async () => {
    await using swapping = new TestHome('waits-swap', { volume: 'ext4' })
    const fp = await swapping.open()
    const env = await fp.create({ net: 'none' })
    for (const mode of modes) await startWaits(env, program, { mode, seconds })
    const began = performance.now()
    const snapshot = await env.snapshot()
    const fork = await forkOf(snapshot)
    const copied = copySince(began)
    expect(await faults(env, copied)).toEqual([])
    expect(await faults(fork, copied)).toEqual([])
  })

  test('a snapshot of the files alone ends no wait', async () => {
    const fp = await home.open()
    const env = await fp.create({ net: 'none' })
    const started = performance.now()
    for (const mode of modes) await startWaits(env, program, { mode, seconds })
    await env.snapshot({ mode: 'filesystem' })
    expect(await faults(env, originalSince(started))).toEqual([])
  })

  test('a pause ends no wait, and neither does a snapshot of a paused environment', async () => {
    const fp = await home.open()
    const env = await fp.create({ net: 'none' })
    for (const mode of modes) await startWaits(env, program, { mode, seconds })
    const began = performance.now()
    await env.pause()
    const snapshot = await env.snapshot()
    const fork = await forkOf(snapshot)
    await env.resume()
    const later = copySince(began)
    expect(await faults(env, later)).toEqual([])
    expect(await faults(fork, later)).toEqual([])
  })

  test('a write of much is whole, in the original, in forks and after a restore', async () => {
    const fp = await home.open()
    const env = await fp.create({ net: 'none' })
    await env.files.write('/root/write.py', slowPipe)
    await env.exec('python3 /root/write.py & while ! [ -e /root/begun ]; do sleep 0.01; done')
    const first = await env.snapshot()
    await env.snapshot()
    const third = await env.snapshot()
    const copies = [env, await forkOf(first), await forkOf(third)]
    const ends = () => Promise.all(copies.map((each) => each.exec(endOfWrite)))
    const whole = '1048576 True\n'
    expect((await ends()).map(({ stdout }) => stdout)).toEqual([whole, whole, whole])
    await env.restore(third)
    expect((await env.exec(endOfWrite)).stdout).toBe(whole)
  })

  test('perl sleeps as long as it was told to', async () => {
    const fp = await home.open()
    const env = await fp.create({ net: 'none' })
    const sleeping = env.exec(`perl -e 'print sleep(4)'`)
    await sleep(1000)
    await env.snapshot()
    const { stdout } = await sleeping
    // Perl counts whole seconds of the clock, so a little more than four may be five.
    expect(stdout.toString()).toMatch(/^[45]$/)
  })

  test('a stopped process stays stopped, and its wait continues with it', async () => {
    const fp = await home.open()
    const env = await fp.create({ net: 'none' })
    await env.exec(`(sleep 3; echo $? > /tmp/ended) & echo $! > /tmp/pid; sleep 0.3
      for pid in $(pgrep -x sleep); do kill -STOP $pid; done`)
    const snapshot = await env.snapshot()
    const fork = await forkOf(snapshot)
    for (const each of [env, fork]) {
      const { stdout } = await each.exec('ps -o stat= -C sleep')
      expect(stdout.toString().trim()).toMatch(/^T/)
      await each.exec('kill -CONT $(pgrep -x sleep)')
      const ended = await each.exec('while ! [ -s /tmp/ended ]; do sleep 0.1; done; cat /tmp/ended')
      expect(ended.stdout.toString()).toBe('0\n')
    }
  })

  test('a wait that was stopped for a while is not cut short', async () => {
    const fp = await home.open()
    const env = await fp.create({ net: 'none' })
    await env.files.write('/root/waits', program, { mode: 0o755 })
    const kinds = ['nanosleep', 'nanosleep-rest', 'clock_nanosleep', 'poll', 'futex']
    const { stdout } = await env.exec(`for kind in ${kinds.join(' ')}; do
        /root/waits 5 process $kind >>/root/stopped.out &
      done; sleep 1; pkill -STOP waits; sleep 0.2; pkill -CONT waits; sleep 0.2
      cat /proc/$(pgrep -n waits)/syscall`)
    const restartedCall = /^219 /
    expect(stdout.toString()).toMatch(restartedCall)
    const snapshot = await env.snapshot()
    for (const each of [env, await forkOf(snapshot)]) {
      const script =
        'while pgrep waits >/dev/null; do sleep 0.1; done; grep right /root/stopped.out'
      const lines = (await each.exec(script)).stdout.toString().trim().split('\n')
      expect(lines.map((line) => line.split(' ')[0]).sort()).toEqual(kinds.sort())
      for (const line of lines) expect(Number(line.split(' ')[1]), line).toBeGreaterThan(4.95)
    }
  })
})
