import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Environment } from '../../../src/index.ts'
import { listTree } from '../../support/list-tree.ts'
import { TemporaryDirectory } from '../../support/temporary-directory.ts'
import { TestHome } from '../../support/test-home.ts'

// A program opens something, removes its name and puts a link to the outside in its place.
// CRIU makes and removes such names as the host's root.
const home = new TestHome('names')
const files = new TemporaryDirectory()
const holder = readFileSync(fileURLToPath(new URL('holder.py', import.meta.url)), 'utf8')
afterAll(async () => {
  await home[Symbol.asyncDispose]()
  files[Symbol.dispose]()
})
afterEach(() => home.removeAll())
const fp = await home.open({ 'spares.count': 0 })

/** Files of the host, where a link from inside leads. */
let canaries: string
beforeEach(() => {
  canaries = join(files.path, `host-${Date.now()}`)
  mkdirSync(canaries)
  mkdirSync(join(canaries, 'victim'))
  writeFileSync(join(canaries, 'other'), 'of the host')
})

/** Starts the holder and waits for it; then `ask` makes it report what it sees. */
async function hold(env: Environment, name: string, user: string, target: string): Promise<void> {
  await env.files.write('/tmp/holder.py', holder)
  await env
    .exec(
      `mkdir -p /tmp/h; chmod 777 /tmp/h; mkfifo /tmp/h/in /tmp/h/out; chmod 666 /tmp/h/in /tmp/h/out
     exec 8<>/tmp/h/in 9<>/tmp/h/out
     cd /; setsid su ${user} -s /bin/sh -c 'exec python3 /tmp/holder.py ${name} /tmp/h/place ${target}' <&8 >&9 2>&1 &
     read -t 20 line <&9; echo "$line"`,
    )
    .then(({ stdout }) => expect(stdout).toContain('ready'))
}

async function ask(env: Environment): Promise<string> {
  return (await env.exec('echo tell >&8; read -t 20 line <&9; echo "$line"')).stdout.trim()
}

/** What each of them must still see afterwards, in the environment and in its copies. */
const kept: Readonly<Record<string, string>> = {
  'deleted-directory': '40755 []',
  'deleted-file': 'mine',
  'deleted-fifo': '1 x',
  'linked-elsewhere': 'mine 1',
  'nested-directory': '[] []',
  'directory-made-again': "[] ['victim'] 0",
  'long-name': 'mine []',
  'not-utf8': 'mine []',
  'working-directory': '[]',
  program: 'None',
  'socket-through-link': '/tmp/h/place/nb/victim',
  'watched-directory': 'True',
}

describe.each(['root', 'nobody'])('as %s', (user) => {
  test.each(Object.entries(kept))(
    '%s: nothing of the host is touched, and the file is kept',
    async (name, seen) => {
      const env = await fp.create()
      const before = listTree(canaries)
      await hold(env, name, user, canaries)
      const snapshot = await env.snapshot()
      expect(await ask(env)).toBe(seen)
      const [fork] = await snapshot.fork()
      if (!fork) throw new Error('no fork')
      expect(await ask(fork)).toBe(seen)
      const again = await fork.snapshot()
      await env.restore(again)
      expect(await ask(env)).toBe(seen)
      expect(listTree(canaries)).toBe(before)
      expect((await env.exec('ls -A / | grep -c deleted-')).stdout).toBe('0\n')
    },
  )

  test.each(['bound-socket', 'deleted-socket'])(
    '%s: nothing of the host is touched, and the environment continues',
    async (name) => {
      const env = await fp.create()
      const before = listTree(canaries)
      await hold(env, name, user, canaries)
      const outcome = await env.snapshot().catch((error: Error) => error.message)
      if (typeof outcome === 'string') expect(outcome).toContain('/tmp/h/place/nb/victim')
      expect(await ask(env)).toBe('/tmp/h/place/nb/victim')
      expect(listTree(canaries)).toBe(before)
    },
  )

  test.each(['deleted-directory', 'deleted-file', 'deleted-socket', 'bound-socket'])(
    '%s: a link through /proc leads to no neighbour',
    async (name) => {
      const neighbour = await fp.create()
      await neighbour.exec('mkdir -p /tmp/theirs/victim')
      const theirs = (await neighbour.exec('ls -la --time-style=full-iso /tmp/theirs')).stdout
      const { stdout: own } = await neighbour.exec('sleep 9998 & echo $!')
      const pid = hostPidOf('9998')
      expect(Number(own)).not.toBe(pid)
      const env = await fp.create()
      await hold(env, name, user, `/proc/${pid}/root/tmp/theirs`)
      await env.snapshot().catch(() => {})
      expect(await ask(env)).not.toBe('')
      expect((await neighbour.exec('ls -la --time-style=full-iso /tmp/theirs')).stdout).toBe(theirs)
    },
  )
})

test('a directory that keeps turning into a link and back leads nowhere, whenever it is captured', async () => {
  const env = await fp.create()
  const before = listTree(canaries)
  const race = `
import os
os.makedirs('/tmp/race', exist_ok=True)
os.chdir('/tmp/race')
held = []
while True:
    os.mkdir('nb')
    open('nb/victim', 'w').write('mine')
    held = held[-20:] + [os.open('nb/victim', os.O_RDWR), os.open('nb', os.O_RDONLY)]
    os.unlink('nb/victim')
    os.rmdir('nb')
    os.symlink('${canaries}', 'nb')
    for fd in held[:-20]: os.close(fd)
    held = held[-20:]
    os.unlink('nb')
`
  await env.files.write('/tmp/race.py', race)
  await env.exec('python3 /tmp/race.py > /tmp/race.log 2>&1 &')
  for (let round = 0; round < 15; round += 1) {
    const snapshot = await env.snapshot()
    const [fork] = await snapshot.fork(1)
    await fork?.remove()
  }
  expect((await env.exec('jobs; cat /tmp/race.log')).stdout).toMatch(/Running[^\n]*\n$/)
  expect(listTree(canaries)).toBe(before)
})

/** The process on the host that sleeps this long. */
function hostPidOf(seconds: string): number {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const found = pids.find((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8') === `sleep\0${seconds}\0`
    } catch {
      // It has ended.
      return false
    }
  })
  return Number(found)
}

test('a snapshot is refused after a directory with mounts in it was moved, and the environment continues', async () => {
  const env = await fp.create()
  const before = listTree(canaries)
  await env.exec(`X=kept; mv /run /r; ln -s ${canaries} /run`)
  await expect(env.snapshot()).rejects.toThrow()
  expect(listTree(canaries)).toBe(before)
})
