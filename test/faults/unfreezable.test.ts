import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { isFrozen } from '../../src/backends/native/cell/freezer.ts'
import { BackendError } from '../../src/index.ts'
import { cgroupsOf, statusField } from '../support/cell-processes.ts'
import { failureOf } from '../support/failure-of.ts'
import { patiently } from '../support/patiently.ts'
import { TemporaryDirectory } from '../support/temporary-directory.ts'
import { TestHome } from '../support/test-home.ts'

// Nobody has to wait so long for what never comes.
vi.stubEnv('FORKPOINT_SECOND_MS', '500')

/** A file system that blocks whoever writes to it, uninterruptibly, until it is disposed of. */
class StuckVolume implements AsyncDisposable {
  readonly #dir = new TemporaryDirectory()
  readonly #mount = this.#dir.file('mount')
  #writer: ChildProcess | undefined

  constructor() {
    const image = this.#dir.file('image')
    execFileSync('truncate', ['-s', '16M', image])
    execFileSync('mkfs.ext4', ['-q', image])
    mkdirSync(this.#mount)
    execFileSync('mount', ['-o', 'loop', image, this.#mount])
    execFileSync('fsfreeze', ['-f', this.#mount])
  }

  /** A process in state D in this cgroup. */
  async write(cgroup: string): Promise<void> {
    const writer = spawn('touch', [join(this.#mount, 'file')])
    this.#writer = writer
    await once(writer, 'spawn')
    await expect.poll(() => statusField(writer.pid ?? 0, 'State'), patiently).toContain('D')
    writeFileSync(join(cgroup, 'cgroup.procs'), String(writer.pid))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = this.#writer && once(this.#writer, 'exit')
    execFileSync('fsfreeze', ['-u', this.#mount])
    this.#writer?.kill('SIGKILL')
    await ended
    execFileSync('umount', [this.#mount])
    this.#dir[Symbol.dispose]()
  }
}

/** The longest time that it was held, in seconds. */
const watchInside = `python3 -c '
import time
last, longest = time.monotonic(), 0
while True:
    time.sleep(0.01)
    now = time.monotonic()
    if now - last > longest:
        longest = now - last
        with open("/root/longest", "w") as file: file.write(str(longest))
    last = now
' & sleep 0.3`

test('an environment that cannot be frozen keeps running', async () => {
  await using home = new TestHome('unfreezable', { 'spares.count': 0 })
  const fp = await home.open()
  const env = await fp.create()
  await using stuck = new StuckVolume()
  const cgroups = cgroupsOf(home, env)
  await stuck.write(cgroups[0] ?? '')
  await env.exec(watchInside)
  for (const call of [
    () => env.pause(),
    () => env.snapshot(),
    () => env.snapshot({ mode: 'filesystem' }),
  ]) {
    const failure = await failureOf(call())
    expect(failure).toBeInstanceOf(BackendError)
    expect(String(failure)).toContain('"touch ')
    expect(isFrozen(cgroups)).toBe(false)
  }
  expect((await env.exec('echo runs')).stdout).toBe('runs\n')
  // One that waits for all of it would hold everything for 5 s; a busy machine delays the observer, too.
  expect(Number((await env.exec('cat /root/longest')).stdout)).toBeLessThan(4)
})
