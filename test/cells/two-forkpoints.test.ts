// Two Forkpoints in one process, each with its own home, ids, address pool, memory mode and
// CRIU: neither notices the other.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test } from 'vitest'
import { findCriu } from '../../src/criu/criu.ts'
import { kernelDataOf } from '../../src/criu/criu-workers.ts'
import type { Environment, Forkpoint } from '../../src/index.ts'
import { agentPid, statusField } from '../support/cell-processes.ts'
import { patiently } from '../support/patiently.ts'
import { expectNothing } from '../support/remains.ts'
import { TemporaryDirectory } from '../support/temporary-directory.ts'
import { TestHome } from '../support/test-home.ts'
import { expectTidy } from '../support/tidiness.ts'

const files = new TemporaryDirectory()
const ownRuntime = copyOfRuntime()
const left = new TestHome('left')
const right = new TestHome('right', {
  'ids.base': 1_500_000_000,
  'ids.count': 100_000,
  'net.pool': '10.213.0.0/16',
  memory: 'copy',
  runtime: ownRuntime,
})
const homes = [left, right]

afterEach(async () => {
  for (const home of homes) {
    await home.removeAll()
    await expectNothing(home)
  }
})
afterAll(async () => {
  for (const home of homes) await home[Symbol.asyncDispose]()
  // Nobody needs that CRIU's cache of the kernel once it is gone.
  rmSync(kernelDataOf(findCriu({ criu: null, runtime: ownRuntime }).command), { recursive: true })
  files[Symbol.dispose]()
})

/** The tools of this machine, in another place. */
function copyOfRuntime(): string {
  const runtime = files.file('runtime')
  const original = process.env.FORKPOINT_RUNTIME ?? ''
  mkdirSync(runtime)
  cpSync(join(original, 'criu'), join(runtime, 'criu'), { recursive: true, verbatimSymlinks: true })
  const description = join(runtime, 'criu/exec.json')
  writeFileSync(description, readFileSync(description, 'utf8').replaceAll(original, runtime))
  return runtime
}

/** Processes of the CRIU that only one of them uses. */
function ownCrius(): string[] {
  return readdirSync('/proc').filter(
    (pid) => /^\d+$/.test(pid) && commandOf(pid).includes(ownRuntime),
  )
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    // It has ended.
    return ''
  }
}

const hostId = (home: TestHome, env: Environment) =>
  Number(statusField(agentPid(home, env), 'Uid').split('\t')[0])

/** What a user does with one: create, branch, go back, remove. */
async function useOnce(fp: Forkpoint, name: string): Promise<void> {
  const env = await fp.create({ name })
  await env.exec(`X=${name}; echo first > /root/note; sleep 1000 &`)
  const snapshot = await env.snapshot()
  const forks = await snapshot.fork(2)
  const answers = await Promise.all(
    forks.map((fork) => fork.exec('echo $X; cat /root/note; jobs -r | wc -l')),
  )
  expect(answers.map(({ stdout }) => stdout)).toEqual(Array(2).fill(`${name}\nfirst\n1\n`))
  await env.exec('X=changed; echo second > /root/note')
  await env.restore(snapshot)
  expect((await env.exec('echo $X; cat /root/note')).stdout).toBe(`${name}\nfirst\n`)
  await Promise.all([...forks, env].map((each) => each.remove()))
}

test('each has its own settings', async () => {
  await using a = await left.open()
  await using b = await right.open()
  const [one, other] = await Promise.all([a.create(), b.create({ net: 'nat' })])
  const [ofOne, ofOther] = await Promise.all([one.snapshot(), other.snapshot()])
  expect((hostId(left, one) - 1_000_000) % 65_536).toBe(0)
  expect(hostId(right, other)).toBeGreaterThan(1_500_000_000)
  expect((hostId(right, other) - 1_500_000_000) % 100_000).toBe(0)
  expect(ofOne.lastInfo.memory).toMatchObject({ mode: 'auto' })
  expect(ofOther.lastInfo.memory).toMatchObject({ mode: 'copy' })
  expect((await other.exec('hostname -I')).stdout).toMatch(/^10\.213\./)
  await expect.poll(() => ownCrius().length, patiently).toBeGreaterThan(0)
  await expectTidy(left, a)
  await expectTidy(right, b)
})

test('spares of one end with it, and the other keeps its own', async () => {
  await using a = await left.open()
  const b = await right.open()
  const [one, other] = await Promise.all([a.create(), b.create()])
  await Promise.all([one.snapshot(), other.snapshot()])
  await b.close()
  await expect.poll(ownCrius, patiently).toEqual([])
  const [fork] = await one.fork(1)
  expect((await fork?.exec('echo alive'))?.stdout).toBe('alive\n')
})

test('both work at the same time under load', async () => {
  await using a = await left.open()
  await using b = await right.open()
  const work = [0, 1, 2].flatMap((n) => [useOnce(a, `left-${n}`), useOnce(b, `right-${n}`)])
  await Promise.all(work)
  expect([await a.list(), await b.list()]).toEqual([[], []])
})

test('closing one in the middle does not disturb the other', async () => {
  await using a = await left.open()
  const work = Promise.all([0, 1].map((n) => useOnce(a, `steady-${n}`)))
  let isOver = false
  const over = work.finally(() => {
    isOver = true
  })
  let closed = 0
  while (!isOver) {
    await using b = await right.open()
    const env = await b.create()
    await env.snapshot()
    await env.remove()
    closed += 1
  }
  await over
  expect(closed).toBeGreaterThan(0)
})

test('closing one in the middle of its own work leaves the other intact', async () => {
  await using a = await left.open()
  const b = await right.open()
  const env = await b.create()
  const steady = useOnce(a, 'steady')
  const late = env.snapshot().then(
    () => 'done',
    () => 'called off',
  )
  await b.close()
  await steady
  expect(['done', 'called off']).toContain(await late)
  // The next process to open it repairs what was left half-done.
  await using again = await right.open()
  const found = await again.get(env.id)
  expect((await found.exec('echo alive')).stdout).toBe('alive\n')
  await expectTidy(right, again)
})
