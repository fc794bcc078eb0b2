// What the backends over container engines promise besides the suite.
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { quiesce } from '../../src/agent/environment.ts'
import { openConnection } from '../../src/agent/wire/connect.ts'
import type { Backend } from '../../src/backends/backend.ts'
import { openClient, path } from '../../src/backends/containers/engine/client.ts'
import { createContainer, listContainers } from '../../src/backends/containers/engine/containers.ts'
import {
  type EngineKind,
  hasCheckpoints,
} from '../../src/backends/containers/engine/engine-kind.ts'
import { tagsWith } from '../../src/backends/containers/engine/images.ts'
import { namesOf } from '../../src/backends/containers/names.ts'
import { makerOf, productRegistry } from '../../src/backends/registry.ts'
import { hostFacts } from '../../src/config/host-facts.ts'
import { loadSettings } from '../../src/config/load-settings.ts'
import { exitCodeOf, PrerequisiteError } from '../../src/model/errors.ts'
import { isSnapshotId, newEnvironmentId, newSnapshotId } from '../../src/model/ids.ts'
import { silentLog } from '../../src/model/log.ts'
import { imageName } from '../support/engines/engine-images.ts'
import type { EngineProcess } from '../support/engines/engine-process.ts'
import { failureOf } from '../support/failure-of.ts'
import { TemporaryDirectory } from '../support/temporary-directory.ts'
import { attachPromises } from './attach-promises.ts'
import type { Surroundings } from './conformance.ts'
import { engineSurroundings } from './engine-surroundings.ts'
import { killAt } from './killed-operation.ts'
import { run } from './promises/promise.ts'
import { makeSources } from './sources.ts'
import { openSubject, type Places, type Subject } from './subject.ts'

export function enginePromises(kind: EngineKind, start: () => Promise<EngineProcess>): void {
  describe(`containers of ${kind.name}`, () => {
    let directory: TemporaryDirectory
    let surroundings: Surroundings
    let places: Places
    let subject: Subject
    let socketPath: string
    beforeAll(async () => {
      directory = new TemporaryDirectory()
      const home = mkdtempSync(join(process.env.FORKPOINT_HOME ?? '/var/tmp', `${kind.name}-`))
      surroundings = await engineSurroundings(kind, start, directory)
      places = { home, ...makeSources(directory), ...surroundings.places }
      socketPath = String(Object.values(places.settings ?? {})[0])
      subject = await openSubject(kind.name, places)
    })
    afterAll(async () => {
      await subject.removeAll()
      await subject[Symbol.asyncDispose]()
      await surroundings[Symbol.asyncDispose]()
      directory[Symbol.dispose]()
      rmSync(places.home, { recursive: true })
    })

    test('commands have the variables, the directory and the user of their image', async () => {
      const env = await subject.create({ from: `dockerfile:${places.dockerfile}` })
      expect(await run(env, 'pwd; id -un; echo $SHADE $HOME')).toBe(
        '/home/app\napp\nlight /home/app\n',
      )
      const { stdout } = await env.exec(['bash', '-c', 'pwd; id -un; echo $SHADE'], {
        mode: 'process',
      })
      expect(stdout).toBe('/home/app\napp\nlight\n')
      const root = await env.exec(['id', '-un'], { mode: 'process', user: 'root' })
      expect(root.stdout).toBe('root\n')
      const files = await env.snapshot({ mode: 'filesystem' })
      const [fork] = await files.fork(1)
      expect(fork && (await run(fork, 'id -un; echo $SHADE; cat /built/*.txt'))).toBe(
        'app\nlight\ncopied\nmade\n',
      )
      expect(await run(env, 'ls /built')).not.toContain('secret')
    })

    test('a shell of an image user reads input and is interrupted', async () => {
      const env = await subject.create({ from: `dockerfile:${places.dockerfile}` })
      const { stdout } = await env.exec('cat; echo end', { stdin: 'given\n' })
      expect(stdout).toBe('given\nend\n')
      expect((await env.exec('sleep 1000', { timeoutMs: 300 })).timedOut).toBe(true)
      // The agent, its socket, the identity, and the three pipes of this command.
      expect(await run(env, 'ls /run/forkpoint | wc -l')).toBe('6\n')
    })

    test('what a killed process left is removed, and containers of others are not', async () => {
      const client = openClient(kind, { socketPath })
      const mine = namesOf(kind, places.home)
      const others = namesOf(kind, '/another/home')
      const left = newEnvironmentId()
      for (const names of [mine, others]) {
        const Labels = names.labels(left, 'life')
        await createContainer(client, names.container(left, 'life'), {
          Image: imageName,
          Cmd: ['bash'],
          Labels,
        })
      }
      await (await subject.create()).stats()
      await using again = await openSubject(kind.name, places)
      expect((await again.remnants()).map(({ id }) => id)).not.toContain(left)
      const kept = await listContainers(client, others.home)
      expect(kept).toHaveLength(1)
      for (const { Id } of kept)
        await client.text({ method: 'DELETE', path: path`/containers/${Id}` })
    })

    test('a snapshot that is killed on its way leaves no image without a record', async () => {
      await subject.removeAll()
      const env = await subject.create({ name: 'victim' })
      const kept = await env.snapshot()
      const taken = hasCheckpoints(kind) ? 'snapshot:dumped' : 'snapshot:copied'
      await killAt(subject, taken, 'snapshot', 'victim')
      await using next = await openSubject(kind.name, places)
      expect((await next.snapshots()).map(({ id }) => id)).toEqual([kept.id])
      const client = openClient(kind, { socketPath })
      const tags = await tagsWith(client, namesOf(kind, places.home), '')
      const ids = tags.map((tag) => tag.split(':').at(-1)).filter(isSnapshotId)
      expect(ids).toEqual(hasCheckpoints(kind) ? [] : [kept.id])
      await subject.removeAll()
    })

    test('a deleted snapshot stays in the engine until its last container is gone', async () => {
      const backend = openBackend(kind, places)
      const env = await subject.create()
      await run(env, 'echo kept > file')
      const snapshot = await env.snapshot()
      const [fork] = await snapshot.fork(1)
      await env.remove()
      await backend.discard(snapshot.id)
      expect(fork && (await run(fork, 'cat file'))).toBe('kept\n')
      await fork?.remove()
      await subject.removeAll()
      const client = openClient(kind, { socketPath })
      expect(await tagsWith(client, namesOf(kind, places.home), '')).toEqual([])
    })

    test('code inside can neither use the agent nor take its place', async () => {
      const env = await subject.create()
      const asks = `
import socket
s = socket.socket(socket.AF_UNIX)
s.connect('/run/forkpoint/agent.sock')
print(len(s.recv(100)))`
      const asked = await env.exec(['python3', '-c', asks], { mode: 'process' })
      expect(asked.stdout).toBe('0\n')
      const posing = `
import os, socket, time
os.remove('/run/forkpoint/agent.sock')
s = socket.socket(socket.AF_UNIX)
s.bind('/run/forkpoint/agent.sock')
s.listen()
print('ready', flush=True)
time.sleep(1000)`
      await run(
        env,
        `(exec python3 -c "${posing}") > posing & until [ -s posing ]; do sleep 0.05; done`,
      )
      const stream = await openBackend(kind, places).connect(subject.ref(env))
      stream.resume()
      await expect(finished(stream)).rejects.toThrow(/listens on .*agent.sock, not the agent/)
      expect(await run(env, 'echo fine')).toBe('fine\n')
    })

    test('an environment is made with the arguments of `docker run`, and so are its forks', async () => {
      const shared = directory.file('shared')
      mkdirSync(shared)
      writeFileSync(join(shared, 'file'), 'of the host\n')
      const env = await subject.create({
        extraArgs: [
          ...['-e', 'SHADE=given', '--workdir=/home/app', '-u', 'app', '--hostname', 'given'],
          ...['-v', `${shared}:/shared:ro`, '--tmpfs', '/scratch', '--shm-size=32m'],
          ...['--cap-drop', 'NET_RAW', '--memory=256m', '--label', 'of=arguments'],
        ],
      })
      const asks = 'pwd; id -un; echo $SHADE; cat /shared/file; touch /shared/new || echo read-only'
      const expected = '/home/app\napp\ngiven\nof the host\nread-only\n'
      expect(await run(env, `(${asks}) 2>/dev/null`)).toBe(expected)
      expect(await run(env, 'cat /proc/sys/kernel/hostname')).toBe('given\n')
      const mounts = await run(env, 'cat /proc/mounts')
      expect(mounts).toMatch(/ \/scratch tmpfs /)
      expect(mounts).toMatch(/ \/dev\/shm tmpfs .*size=32768k/)
      expect(env.lastInfo).toMatchObject({
        hostname: 'given',
        labels: { of: 'arguments' },
        limits: { memoryBytes: 256 * 2 ** 20 },
      })
      // CRIU cannot read the limits of a process of another user here.
      const snapshot = await env.snapshot({ mode: 'filesystem' })
      const [fork] = await snapshot.fork(1)
      expect(fork && (await run(fork, `(${asks}) 2>/dev/null`))).toBe(expected)
      await expect(subject.create({ extraArgs: ['--gpus', 'all'] })).rejects.toThrow(/--gpus/)
    })

    if (kind.checkpoints === 'archive') {
      test('checkpoints are kept in the directory that was named, and go with their snapshots', async () => {
        const exportDir = directory.file('exported')
        const env = await subject.create({ exportDir })
        await run(env, 'kept=yes')
        const snapshot = await env.snapshot()
        expect(readdirSync(exportDir)).toEqual([expect.stringContaining(snapshot.id)])
        const [fork] = await snapshot.fork(1)
        expect(fork && (await run(fork, 'echo $kept'))).toBe('yes\n')
        await env.remove()
        await fork?.remove()
        await snapshot.remove()
        expect(readdirSync(exportDir)).toEqual([])
        chmodSync(exportDir, 0o777)
        await expect(subject.create({ exportDir })).rejects.toThrow(/can be written by everybody/)
      })
    }

    const capturing = 'a capture that ended half-way gives the environment its processes back'
    if (hasCheckpoints(kind)) {
      test(capturing, async () => {
        const env = await subject.create()
        await run(env, 'kept=yes')
        const backend = openBackend(kind, places)
        const ref = subject.ref(env)
        await using connection = await openConnection(await backend.connect(ref))
        await quiesce(connection)
        const draft = newSnapshotId()
        const how = { mode: 'full', memory: 'auto', after: 'stay-frozen', head: null } as const
        await backend.capture(ref, draft, how)
        expect(await backend.inspect(ref)).toBe('dead')
        expect(await backend.alive([ref])).toEqual(new Set([env.id]))
        await backend.abandon(ref, draft)
        expect(await run(env, 'echo $kept')).toBe('yes\n')
        expect(readdirSync(join(places.home, 'containers', `${kind.name}-checkpoints`))).toEqual([])
      })
    }

    attachPromises(kind, () => ({ subject, socketPath }))

    test('without an engine, a check warns and a creation fails at once', async () => {
      const nowhere = { [`${kind.engine}.socket`]: '/nonexistent/engine.sock' }
      const home = directory.file('unused')
      const backend = openBackend(kind, { home, settings: nowhere })
      const [check] = await backend.check()
      expect(check).toMatchObject({ name: `${kind.name} engine`, status: 'warn' })
      expect(check?.remedy).toContain(`${kind.engine}.socket`)
      await using without = await openSubject(kind.name, { ...places, home, settings: nowhere })
      const failure = await failureOf(without.create())
      expect(failure).toBeInstanceOf(PrerequisiteError)
      expect(String(failure)).toContain('/nonexistent/engine.sock')
      expect(exitCodeOf(failure)).toBe(6)
    })
  })
}

function openBackend(
  kind: EngineKind,
  { home, settings: flags }: Pick<Places, 'home' | 'settings'>,
): Backend {
  const { settings } = loadSettings({ flags: { home, ...flags }, env: {}, facts: hostFacts() })
  return makerOf(productRegistry, kind.name).open({
    settings,
    log: silentLog,
    exclusively: (_resource, _what, work) => work(),
  })
}
