// When spares end, and which process may use which.
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, rmdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, describe, expect, test, vi } from 'vitest'
import { cgroupDirs } from '../../../src/backends/native/cell/cgroup.ts'
import { detectLayout } from '../../../src/backends/native/cell/cgroup-layout.ts'
import { placesOf } from '../../../src/backends/native/places.ts'
import { openEngine } from '../../../src/engine/engine.ts'
import { create } from '../../../src/engine/operations/create/create.ts'
import { snapshot } from '../../../src/engine/operations/snapshot/snapshot.ts'
import { type Environment, Forkpoint } from '../../../src/index.ts'
import { patiently } from '../../support/patiently.ts'
import { expectNothing } from '../../support/remains.ts'
import { runProgram, startProgram } from '../../support/run-program.ts'
import { TestHome } from '../../support/test-home.ts'
import { expectTidy } from '../../support/tidiness.ts'

const home = new TestHome('spares-end')
afterAll(() => home[Symbol.asyncDispose]())
afterEach(async () => {
  await home.removeAll()
  await expectNothing(home)
})

const stepsOf = async (env: Environment) => (await env.log()).at(-1)?.phases.map(({ name }) => name)

const kindsOf = async (fp: Forkpoint) => (await fp.spares()).map(({ kind }) => kind)

/** A snapshot called `ready`, and spares for what is likely next. */
async function prepared(fp: Forkpoint): Promise<Environment> {
  const env = await fp.create({ name: 'web' })
  await env.exec('X=kept')
  await env.snapshot({ name: 'ready' })
  await fp.sparesReady()
  return env
}

describe('spares go', () => {
  test('with the process that made them, when it closes', async () => {
    const fp = await home.open()
    await prepared(fp)
    expect(await kindsOf(fp)).toEqual(['restore', 'fork'])
    await fp.close()
    await using next = await home.open()
    expect(await next.spares()).toEqual([])
    await expectTidy(home, next)
  })

  test('and one that cannot be ended does not prevent the process from closing', async () => {
    const fp = await home.open()
    await prepared(fp)
    const [spare] = await fp.spares()
    // A cgroup that contains another one cannot be removed.
    const groups = dirname(cgroupDirs(detectLayout(), home.key, 'x')[0] ?? '')
    const isSpare = (name: string) => name.startsWith(`${spare?.environment}-`)
    const frozen = readdirSync(groups).filter(isSpare).sort().at(-1)
    const obstacle = join(groups, frozen ?? '', 'obstacle')
    mkdirSync(obstacle)
    // The kernel never lets go of it; nobody has to wait so long for that.
    vi.stubEnv('FORKPOINT_SECOND_MS', '200')
    await fp.close()
    vi.unstubAllEnvs()
    rmdirSync(obstacle)
    await using next = await home.open()
    expect(await next.spares()).toEqual([])
    await expectTidy(home, next)
  })

  test('with their environment, even if another process removes it', async () => {
    await using fp = await home.open()
    await prepared(fp)
    const other = await fp.create({ name: 'other' })
    expect((await runProgram(home, ['remove', 'web'])).stderr).toBe('')
    expect(await kindsOf(fp)).toEqual(['fork'])
    await expectTidy(home, fp)
    await other.remove()
    expect(await fp.spares()).toEqual([])
  })

  test('with their snapshot', async () => {
    await using fp = await home.open()
    const env = await prepared(fp)
    const older = await fp.snapshot('ready')
    const newer = await env.snapshot()
    await fp.sparesReady()
    expect((await fp.spares()).map(({ snapshot: of }) => of)).toEqual([newer.id, newer.id])
    await env.restore(older)
    await fp.sparesReady()
    await newer.remove()
    expect((await fp.spares()).map(({ snapshot: of }) => of)).toEqual([older.id])
    await expectTidy(home, fp)
  })

  test('before the machine runs out of memory, and are made again when there is enough', async () => {
    const reading = { availableBytes: 90, totalBytes: 100, stalledPercent: 0 }
    const { settings } = Forkpoint.settings({ settings: { home: home.path } })
    await using engine = await openEngine(settings, { readMemory: () => reading })
    const { id } = await create(engine, { name: 'web' })
    await snapshot(engine, id, {})
    await engine.spares.settled()
    expect(engine.store.spares.list()).toHaveLength(2)
    reading.availableBytes = 9
    await expect.poll(() => engine.store.spares.list(), patiently).toEqual([])
    await snapshot(engine, id, {})
    await engine.spares.settled()
    expect(engine.store.spares.list()).toEqual([])
    reading.availableBytes = 90
    await snapshot(engine, id, {})
    await engine.spares.settled()
    expect(engine.store.spares.list()).toHaveLength(2)
  })

  test('when there are more than `spares.count`, the oldest first', async () => {
    await using fp = await home.open({ 'spares.count': 3 })
    const env = await prepared(fp)
    const [first] = await fp.snapshots()
    const second = await env.snapshot()
    await fp.sparesReady()
    expect((await fp.spares()).map(({ kind, snapshot: of }) => [kind, of])).toEqual([
      ['fork', first?.id],
      ['restore', second.id],
      ['fork', second.id],
    ])
    await second.fork(3)
    await fp.sparesReady()
    expect((await fp.spares()).map(({ kind, snapshot: of }) => [kind, of])).toEqual(
      Array.from({ length: 3 }, () => ['fork', second.id]),
    )
  })

  test('when they take more memory than `spares.memory`, and are not made again for nothing', async () => {
    await using fp = await home.open({ 'spares.memory': '32m' })
    const env = await fp.create()
    // Shared memory is copied for every branch.
    const held = "m = mmap.mmap(-1, 2 ** 26); m.write(b'x' * 2 ** 26)"
    await env.files.write(
      '/root/hold.py',
      `import mmap, time\n${held}\nprint(1, flush=True)\ntime.sleep(1000)\n`,
    )
    await env.exec(
      'python3 /root/hold.py > /root/out & while ! [ -s /root/out ]; do sleep 0.05; done',
    )
    const taken = await env.snapshot()
    await fp.sparesReady()
    expect(await fp.spares()).toEqual([])
    await env.restore(taken)
    expect(await stepsOf(env)).toEqual(['materialize', 'settle'])
    await expectTidy(home, fp)
  })
})

describe('spares.count 0', () => {
  test('makes none and uses none', async () => {
    await using fp = await home.open()
    await using without = await home.open({ 'spares.count': 0 })
    await prepared(fp)
    const env = await without.get('web')
    await env.restore('ready')
    expect(await stepsOf(env)).toEqual(['materialize', 'settle'])
    await without.sparesReady()
    expect(await kindsOf(without)).toEqual(['restore', 'fork'])
  })
})

describe('spares of another process', () => {
  test('are used by one that prepares none itself', async () => {
    await using fp = await home.open()
    const env = await prepared(fp)
    expect((await runProgram(home, ['restore', 'web', 'ready'])).stderr).toBe('')
    expect(await stepsOf(env)).toEqual(['wake'])
    expect(await kindsOf(fp)).toEqual(['fork'])
    expect((await env.exec('echo $X')).stdout).toBe('kept\n')
    await expectTidy(home, fp)
  })

  test('stay when another process opens the store', async () => {
    await using fp = await home.open()
    await prepared(fp)
    await using other = await home.open()
    expect(await kindsOf(other)).toEqual(['restore', 'fork'])
    await expectTidy(home, other)
  })

  test('stay when that process finds and ends an older life of their environment', async () => {
    await using fp = await home.open()
    const { id } = await prepared(fp)
    const older = placesOf(home.path).slot(id, 99).dir
    mkdirSync(older)
    await using other = await home.open()
    expect(existsSync(older)).toBe(false)
    expect(await kindsOf(other)).toEqual(['restore', 'fork'])
    await expectTidy(home, other)
  })

  test('are ended if it was killed', async () => {
    await using fp = await home.open({ 'spares.count': 0 })
    await fp.create({ name: 'web' })
    const keeper = startProgram(home, ['keep', 'web'], {}, 'pipe')
    const ended = once(keeper, 'exit')
    if (keeper.stdout) await once(keeper.stdout, 'data')
    expect(await kindsOf(fp)).toEqual(['restore', 'fork'])
    keeper.kill('SIGKILL')
    await ended
    await using next = await home.open({ 'spares.count': 0 })
    expect(await next.spares()).toEqual([])
    await expectTidy(home, next)
  })
})
