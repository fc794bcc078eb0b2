// Branches that are prepared before anybody asks: as good as those made on demand, visible to
// nobody, and removed when they should be.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { cgroupDirs } from '../../../src/backends/native/cell/cgroup.ts'
import { detectLayout } from '../../../src/backends/native/cell/cgroup-layout.ts'
import type { Environment, Forkpoint, Snapshot } from '../../../src/index.ts'
import { openStore } from '../../../src/store/open-store.ts'
import { agentPid, hostPids } from '../../support/cell-processes.ts'
import { patiently } from '../../support/patiently.ts'
import { expectNothing } from '../../support/remains.ts'
import { TestHome } from '../../support/test-home.ts'
import { expectTidy } from '../../support/tidiness.ts'

const home = new TestHome('spares')
afterAll(() => home[Symbol.asyncDispose]())
afterEach(async () => {
  await home.removeAll()
  await expectNothing(home)
})

const stepsOf = async (env: Environment) => (await env.log()).at(-1)?.phases.map(({ name }) => name)

const say = async (env: Environment, command: string) => {
  const { stdout, stderr } = await env.exec(command)
  return `${stdout}${stderr}`.trim()
}

/** A snapshot of a shell with some state, and spares for what is likely next. */
async function prepared(fp: Forkpoint, name = 'web'): Promise<[Environment, Snapshot]> {
  const env = await fp.create({ name })
  await env.exec('X=before; sleep 1000 & job=$!; cd /srv; echo before > /root/file')
  const taken = await env.snapshot()
  await env.exec('X=after; kill $job; cd /; echo after > /root/file; touch /root/new')
  await fp.sparesReady()
  return [env, taken]
}

const question =
  'echo $X $PWD $(cat /root/file) $(ls -A /root | grep -c new); kill -0 $job && jobs -r'
const answer = /^before \/srv before 0\n\[1\]\+ {2}Running +sleep 1000/

/** The frozen cgroup of the first spare of this kind. */
function cgroupOf(kind: 'restore' | 'fork'): string {
  using store = openStore(home.path)
  const [spare] = store.spares.list({ kind })
  const name = `${spare?.environmentId}-${spare?.instance?.slot}`
  return cgroupDirs(detectLayout(), home.key, name)[0] ?? ''
}

describe('what was prepared', () => {
  test('is what a restore continues with: memory, files, jobs and directory', async () => {
    await using fp = await home.open()
    const [env, taken] = await prepared(fp)
    for (let round = 0; round < 3; round += 1) {
      await fp.sparesReady()
      await env.restore(taken)
      expect(await stepsOf(env)).toEqual(['wake'])
      expect(await say(env, question)).toMatch(answer)
      await env.exec('X=again; kill $job; echo again > /root/file')
    }
    await expectTidy(home, fp)
  })

  test('is what a fork is, with its own name, identity and memory', async () => {
    await using fp = await home.open()
    const [env, taken] = await prepared(fp)
    const [spare] = (await fp.spares()).filter(({ kind }) => kind === 'fork')
    const [named] = await taken.fork(1, { name: 'branch', labels: { role: 'try' } })
    if (!named) throw new Error('no fork')
    expect(named.id).toBe(spare?.environment)
    expect(await stepsOf(named)).toEqual(['wake'])
    expect(await say(named, question)).toMatch(answer)
    expect(await say(named, 'hostname; cat /etc/hostname')).toBe('branch\nbranch')
    expect(JSON.parse(await say(named, 'cat /run/forkpoint/identity.json'))).toMatchObject({
      id: named.id,
      name: 'branch',
      hostname: 'branch',
      machineId: await say(named, 'cat /etc/machine-id'),
    })
    expect(named.lastInfo).toMatchObject({ status: 'running', labels: { role: 'try' } })
    await fp.sparesReady()
    const [unnamed] = await taken.fork()
    if (!unnamed) throw new Error('no fork')
    expect(await stepsOf(unnamed)).toEqual(['wake'])
    expect(await say(unnamed, 'hostname')).toBe(unnamed.id)
    const machineIds = await Promise.all(
      [env, named, unnamed].map((each) => say(each, 'cat /etc/machine-id')),
    )
    expect(new Set(machineIds).size).toBe(3)
    await expectTidy(home, fp)
  })

  test('brings back an environment whose processes died', async () => {
    await using fp = await home.open()
    const [env] = await prepared(fp)
    process.kill(agentPid(home, env), 'SIGKILL')
    await expect.poll(async () => (await env.info()).status, patiently).toBe('dead')
    await env.resume()
    expect(await stepsOf(env)).toEqual(['wake'])
    expect(await say(env, question)).toMatch(answer)
  })

  test('continues on its terminal, with a program that waits there', async () => {
    await using fp = await home.open()
    const env = await fp.create()
    const shell = env.terminal('work')
    await shell.write('stty -echo; PS1=; read -p "your name? " name; echo "hello $name"\n')
    const screen = async () => (await shell.screen()).lines.join('\n')
    await expect.poll(screen, patiently).toContain('your name?')
    const taken = await env.snapshot()
    await shell.write('wrong\n')
    await expect.poll(screen, patiently).toContain('hello wrong')
    await fp.sparesReady()
    await env.restore(taken)
    expect(await stepsOf(env)).toEqual(['wake'])
    await shell.write('Ada\n')
    await expect.poll(screen, patiently).toContain('hello Ada')
    expect(await screen()).not.toContain('wrong')
  })

  test('holds the locks that its processes held on mapped files', async () => {
    await using fp = await home.open()
    const env = await fp.create()
    await env.files.write(
      '/root/hold.py',
      `import fcntl, mmap, time
file = open('/root/locked', 'w+b')
file.truncate(4096)
memory = mmap.mmap(file.fileno(), 4096)
fcntl.lockf(file, fcntl.LOCK_EX)
open('/root/held', 'w').close()
while True: time.sleep(0.05); memory[0:1] = b'x'
`,
    )
    const attempt = `python3 -c "
import fcntl
fcntl.lockf(open('/root/locked', 'r+b'), fcntl.LOCK_EX | fcntl.LOCK_NB)
print('free')" 2>&1 | tail -1`
    await env.exec('python3 /root/hold.py & job=$!; while ! [ -e /root/held ]; do sleep 0.05; done')
    const taken = await env.snapshot()
    await env.exec('kill $job; wait $job')
    expect(await say(env, attempt)).toBe('free')
    await fp.sparesReady()
    await env.restore(taken)
    expect(await stepsOf(env)).toEqual(['wake'])
    expect(await say(env, attempt)).toContain('BlockingIOError')
    expect(await say(env, 'kill -0 $job && echo alive')).toBe('alive')
  })

  test('has not run before: it is as the snapshot froze it when it is used', async () => {
    await using fp = await home.open()
    const env = await fp.create()
    await env.exec('(while :; do echo tick >> /root/ticks; sleep 0.01; done) &')
    await expect
      .poll(() => say(env, 'wc -l < /root/ticks').then(Number), patiently)
      .toBeGreaterThan(3)
    await env.snapshot()
    await fp.sparesReady()
    const before = readFileSync(join(cgroupOf('restore'), 'cpu.stat'), 'utf8')
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(readFileSync(join(cgroupOf('restore'), 'cpu.stat'), 'utf8')).toBe(before)
  })

  test('has the name that its environment was given in the meantime', async () => {
    await using fp = await home.open()
    const [env, taken] = await prepared(fp)
    await env.rename('renamed')
    await env.restore(taken)
    expect(await stepsOf(env)).toEqual(['wake'])
    const { name } = JSON.parse(await say(env, 'cat /run/forkpoint/identity.json'))
    expect(name).toBe('renamed')
    expect(await say(env, 'hostname')).toBe('web')
  })
})

describe('a spare', () => {
  test('is invisible unless somebody asks for spares', async () => {
    await using fp = await home.open()
    const [env, taken] = await prepared(fp)
    expect((await fp.spares()).map(({ kind }) => kind)).toEqual(['restore', 'fork'])
    expect((await fp.list()).map(({ id }) => id)).toEqual([env.id])
    expect((await fp.snapshots()).map(({ id }) => id)).toEqual([taken.id])
    const usage = await fp.usage()
    expect(usage.environments.map(({ id }) => id)).toEqual([env.id])
    expect((await env.log()).map(({ kind }) => kind)).toEqual(['create', 'snapshot'])
    expect(hostPids(home, env).length).toBe((await env.stats()).processes)
  })

  test.each(['killed', 'let loose'])('that was %s is not used', async (fate) => {
    await using fp = await home.open()
    const [env, taken] = await prepared(fp)
    for (const kind of ['restore', 'fork'] as const) {
      const cgroup = cgroupOf(kind)
      if (fate === 'killed') writeFileSync(join(cgroup, 'cgroup.kill'), '1')
      else writeFileSync(join(cgroup, 'cgroup.freeze'), '0')
      const emptied = () => readFileSync(join(cgroup, 'cgroup.procs'), 'utf8')
      if (fate === 'killed') await expect.poll(emptied, patiently).toBe('')
    }
    await env.restore(taken)
    expect(await stepsOf(env)).toEqual(['wake', 'materialize', 'settle'])
    expect(await say(env, question)).toMatch(answer)
    const [made] = await taken.fork()
    if (!made) throw new Error('no fork')
    expect(await stepsOf(made)).toEqual(['wake', 'materialize', 'introduce'])
    expect(await say(made, question)).toMatch(answer)
    await expectTidy(home, fp)
  })

  test('is not made for an environment with an address', async () => {
    await using fp = await home.open()
    const env = await fp.create({ net: 'nat' })
    await env.snapshot()
    await fp.sparesReady()
    expect(await fp.spares()).toEqual([])
  })

  test('is not made from a snapshot without processes', async () => {
    await using fp = await home.open()
    const env = await fp.create()
    await env.snapshot({ mode: 'filesystem' })
    await fp.sparesReady()
    expect(await fp.spares()).toEqual([])
  })
})
