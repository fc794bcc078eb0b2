import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { quiesce } from '../../src/agent/environment.ts'
import { openConnection } from '../../src/agent/wire/connect.ts'
import type { BackendContext } from '../../src/backends/backend.ts'
import { dockerProcessesMaker } from '../../src/backends/containers/containers-backend.ts'
import { openClient } from '../../src/backends/containers/engine/client.ts'
import { listContainers } from '../../src/backends/containers/engine/containers.ts'
import { dockerProcesses } from '../../src/backends/containers/engine/engine-kind.ts'
import { namesOf } from '../../src/backends/containers/names.ts'
import { hostFacts } from '../../src/config/host-facts.ts'
import type { Flags } from '../../src/config/layers.ts'
import { loadSettings } from '../../src/config/load-settings.ts'
import { Forkpoint } from '../../src/forkpoint.ts'
import type { Environment } from '../../src/index.ts'
import { exitCodeOf, PrerequisiteError } from '../../src/model/errors.ts'
import { newSnapshotId } from '../../src/model/ids.ts'
import { silentLog } from '../../src/model/log.ts'
import type { Surroundings } from '../conformance/conformance.ts'
import { engineSurroundings } from '../conformance/engine-surroundings.ts'
import { run } from '../conformance/promises/promise.ts'
import { startDocker, startExperimentalDocker } from '../support/engines/start-docker.ts'
import { failureOf } from '../support/failure-of.ts'
import { TemporaryDirectory } from '../support/temporary-directory.ts'

/** Counts in memory, and writes each number to a file; asked by a signal, says how far it got, and ends. */
const writer = `
import os, signal, time
asked = []
signal.signal(signal.SIGUSR1, lambda *_: asked.append(1))
out = os.open('lines', os.O_WRONLY | os.O_CREAT | os.O_APPEND)
count = 0
while not asked:
    count += 1
    os.write(out, b'%d\\n' % count)
    if count % 20 == 0: time.sleep(0.002)
os.write(os.open('memory.new', os.O_WRONLY | os.O_CREAT), b'%d\\n' % count)
os.rename('memory.new', 'memory')`

function contextOf(home: string, flags: Flags): BackendContext {
  const { settings } = loadSettings({ flags: { home, ...flags }, env: {}, facts: hostFacts() })
  return { settings, log: silentLog, exclusively: (_resource, _what, work) => work() }
}

function socketOf({ places }: Surroundings): string {
  return String(Object.values(places.settings ?? {})[0])
}

async function startWriter(env: Environment): Promise<void> {
  await run(env, `(exec python3 -c "${writer}") & pid=$!; until [ -s lines ]; do sleep 0.05; done`)
}

/** What is in its file must be what it remembers: nothing missing, nothing twice. */
async function expectAgreement(env: Environment): Promise<void> {
  await run(env, 'kill -USR1 $pid; until [ -e memory ]; do sleep 0.02; done')
  const count = Number(await run(env, 'cat memory'))
  const lines = (await run(env, 'cat lines')).trim().split('\n').map(Number)
  expect(count).toBeGreaterThan(0)
  expect(lines.length).toBe(count)
  expect(lines.every((line, index) => line === index + 1)).toBe(true)
}

describe('docker environments with processes', () => {
  let directory: TemporaryDirectory
  let home: string
  let engine: Surroundings
  let forkpoint: Forkpoint
  const from = () => String(engine.places.from)

  beforeAll(async () => {
    directory = new TemporaryDirectory()
    home = mkdtempSync(join(process.env.FORKPOINT_HOME ?? '/var/tmp', 'docker-processes-'))
    engine = await engineSurroundings(dockerProcesses, startExperimentalDocker, directory)
    forkpoint = await Forkpoint.open({ home, settings: engine.places.settings ?? {} })
  })
  afterAll(async () => {
    for (const env of await forkpoint.list()) await env.remove({ force: true })
    await forkpoint.prune()
    await forkpoint.close()
    await engine[Symbol.asyncDispose]()
    directory[Symbol.dispose]()
    rmSync(home, { recursive: true })
  })

  test('memory and files agree to the last line, in forks made together, a fork of a fork and a restore', async () => {
    const env = await forkpoint.create({ backend: 'docker', processes: true, from: from() })
    expect(env.lastInfo).toMatchObject({ backend: 'docker-processes' })
    await startWriter(env)
    const snapshot = await env.snapshot()
    expect(snapshot.lastInfo.captured).toContain('processes')
    const [one, two] = await snapshot.fork(2, { atomic: true })
    if (one === undefined || two === undefined) throw new Error('a fork is missing')
    const later = await one.snapshot()
    const [third] = await later.fork(1)
    if (third === undefined) throw new Error('the fork of a fork is missing')
    for (const each of [one, two, third]) await expectAgreement(each)
    await run(env, 'touch after')
    await env.restore(snapshot)
    expect(await run(env, 'ls')).not.toContain('after')
    await expectAgreement(env)
  })

  test('a snapshot that fails leaves the environment running, and nothing behind', async () => {
    const env = await forkpoint.create({ backend: 'docker', processes: true, from: from() })
    await startWriter(env)
    // CRIU dumps no file without a name that is larger than 1 MiB, unless it is told to.
    await run(
      env,
      `(exec python3 -c "
import os, time
held = open('nameless', 'wb')
held.write(bytes(4 << 20))
held.flush()
os.remove('nameless')
open('holding', 'w').close()
time.sleep(1000)") & until [ -e holding ]; do sleep 0.05; done`,
    )
    const kept = join(home, 'containers/docker-processes-checkpoints')
    const before = readdirSync(kept)
    const failure = await failureOf(env.snapshot())
    expect(String(failure)).toContain('CRIU')
    expect(readdirSync(kept)).toEqual(before)
    expect(await env.info()).toMatchObject({ status: 'running' })
    await expectAgreement(env)
  })

  test('a capture that ended half-way lets the environment continue', async () => {
    const env = await forkpoint.create({ backend: 'docker', processes: true, from: from() })
    await startWriter(env)
    const backend = dockerProcessesMaker.open(contextOf(home, engine.places.settings ?? {}))
    const client = openClient(dockerProcesses, { socketPath: socketOf(engine) })
    const containers = await listContainers(client, namesOf(dockerProcesses, home).home)
    const container = containers.find(({ Names }) => Names.some((name) => name.includes(env.id)))
    const instance = {
      ...{ kind: 'container', container: container?.Id ?? '', life: 'unknown' },
      ...{ user: '', env: [] },
    }
    const ref = { id: env.id, instance }
    {
      await using connection = await openConnection(await backend.connect(ref))
      await quiesce(connection)
    }
    const draft = newSnapshotId()
    const how = { mode: 'full', memory: 'auto', after: 'stay-frozen', head: null } as const
    await backend.capture(ref, draft, how)
    expect(await backend.inspect(ref)).toBe('paused')
    await backend.abandon(ref, draft)
    expect(await backend.inspect(ref)).toBe('running')
    const kept = join(home, 'containers/docker-processes-checkpoints')
    expect(readdirSync(kept).filter((name) => name.startsWith(draft))).toEqual([])
    await expectAgreement(env)
  })

  test('without an experimental engine, a creation fails at once and a check says why', async () => {
    await using plain = await startDocker()
    const elsewhere = directory.file('plain')
    const settings = { 'docker.socket': plain.socket }
    await using other = await Forkpoint.open({ home: elsewhere, settings })
    const failure = await failureOf(
      other.create({ backend: 'docker', processes: true, from: 'image:any' }),
    )
    expect(failure).toBeInstanceOf(PrerequisiteError)
    expect(String(failure)).toContain('not experimental')
    expect(exitCodeOf(failure)).toBe(6)
    const [check] = await dockerProcessesMaker.open(contextOf(elsewhere, settings)).check()
    expect(check).toMatchObject({ status: 'warn', found: expect.stringContaining('experimental') })
    expect(check?.remedy).toContain('daemon.json')
    const client = openClient(dockerProcesses, { socketPath: plain.socket })
    expect(await listContainers(client, namesOf(dockerProcesses, elsewhere).home)).toEqual([])
  })
})
