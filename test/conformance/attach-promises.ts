// What attaching to a container promises: it works like an environment, and afterwards nobody can tell.
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Client, openClient } from '../../src/backends/containers/engine/client.ts'
import {
  type EngineKind,
  hasCheckpoints,
} from '../../src/backends/containers/engine/engine-kind.ts'
import { createEnvManager } from '../../src/index.ts'
import { exitCodeOf } from '../../src/model/errors.ts'
import { removeForeign, startForeign, traceOf } from '../support/engines/foreign-container.ts'
import { failureOf } from '../support/failure-of.ts'
import { patiently } from '../support/patiently.ts'
import { run } from './promises/promise.ts'
import type { Subject } from './subject.ts'

const methods = {
  docker: 'docker_attach',
  'docker-processes': 'docker_attach',
  podman: 'podman_attach',
  'podman-criu': 'hybrid_attach',
} as const

const findAgent = `
import glob, os, signal, socket
[path] = glob.glob('/dev/.forkpoint-*/agent.sock')
s = socket.socket(socket.AF_UNIX)
s.connect(path)
`

/** Prints how many agents there are, and how much one says to a process inside. */
const askAgent = `${findAgent}
print(1, len(s.recv(100)))`

const killAgent = `${findAgent}
import struct
pid, _, _ = struct.unpack('3i', s.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
os.kill(pid, signal.SIGKILL)`

export function attachPromises(
  kind: EngineKind,
  given: () => { readonly subject: Subject; readonly socketPath: string },
): void {
  describe('a container that is not ours', () => {
    let client: Client
    let foreign: string
    let before: Awaited<ReturnType<typeof traceOf>>
    beforeEach(async () => {
      // What an earlier test has left must not disappear later.
      await given().subject.removeAll()
      client = openClient(kind, { socketPath: given().socketPath })
      foreign = await startForeign(client, 'theirs')
      before = await traceOf(client, foreign)
    })
    afterEach(async () => {
      await given().subject.removeAll()
      await removeForeign(client, foreign)
    })
    const expectUntouched = async () => {
      await expect.poll(() => traceOf(client, foreign), patiently).toEqual(before)
    }
    const attach = (target = 'theirs') =>
      given().subject.forkpoint.attach({ backend: kind.name, target, name: 'adopted' })

    test('is the same to the last byte after everything was done with it', async () => {
      const env = await attach()
      expect(env.lastInfo).toMatchObject({
        status: 'running',
        source: { kind: 'attached', target: 'theirs' },
        workdir: '/work',
      })
      expect(await run(env, 'cat given.txt /home/app/mine; echo $TINT; pwd')).toBe(
        'given\nmine\npale\n/work\n',
      )
      await run(env, 'sleep 1000 & (sleep 2000 &)')
      await env.terminal('side').write('echo typed\n')
      const snapshot = await env.snapshot()
      expect(snapshot.lastInfo.captured).toEqual(['filesystem'])
      expect(await run(env, 'jobs | wc -l')).toBe('1\n')
      const [fork] = await env.fork(1, { name: 'copy' })
      const seen = 'cat /home/app/mine; ls -A / /dev | grep -c forkpoint; hostname; echo $TINT'
      expect(fork && (await run(fork, `${seen}; echo other > /home/app/mine`))).toBe(
        'mine\n0\ncopy\npale\n',
      )
      await env.restore(snapshot)
      expect(await run(env, 'cat /home/app/mine; echo changed > /home/app/mine')).toBe('mine\n')
      expect((await env.info()).status).toBe('running')
      await given().subject.removeAll()
      await expectUntouched()
    })

    // The others ask for nothing in which the two backends over Podman differ.
    if (kind.name === 'podman') return

    test('is the same after it was only attached by its short id, and removed', async () => {
      const env = await attach(foreign.slice(0, 12))
      expect(await run(env, 'echo fine')).toBe('fine\n')
      await env.remove()
      await expectUntouched()
    })

    test('is managed as StateFork does it, and given back by a clean-up', async () => {
      const method = methods[kind.name]
      const { forkpoint } = given().subject
      const manager = await createEnvManager({ method, containerName: 'theirs', forkpoint })
      const id = await manager.snapshot()
      const { stdout } = await manager.execCommand('cat /home/app/mine')
      expect(stdout).toBe('mine\n')
      await manager.restore(id)
      await manager.execCommand('echo other > /home/app/mine')
      await manager.restore(id)
      expect((await manager.execCommand('cat /home/app/mine')).stdout).toBe('mine\n')
      await manager.cleanup()
      await expectUntouched()
    })

    test('is refused while another environment has it, and is free after a restore', async () => {
      const env = await attach()
      const again = await failureOf(
        given().subject.forkpoint.attach({ backend: kind.name, target: foreign }),
      )
      expect(String(again)).toContain('is attached already, as environment adopted')
      expect(exitCodeOf(again)).toBe(4)
      await env.restore(await env.snapshot())
      const other = await given().subject.forkpoint.attach({ backend: kind.name, target: foreign })
      expect(await run(other, 'cat /home/app/mine')).toBe('mine\n')
    })

    test('is neither paused nor renamed, and its own environment is refused', async () => {
      const env = await attach()
      const paused = await failureOf(env.pause())
      expect(exitCodeOf(paused)).toBe(5)
      expect(String(paused)).toContain('was attached')
      expect(env.lastInfo.capabilities).not.toContain('pause')
      if (hasCheckpoints(kind)) {
        expect(exitCodeOf(await failureOf(env.snapshot({ mode: 'full' })))).toBe(5)
      }
      await env.rename('other')
      const [fork] = await env.fork(1)
      const { container } = given().subject.ref(fork ?? env).instance
      const own = await failureOf(
        given().subject.forkpoint.attach({ backend: kind.name, target: String(container) }),
      )
      expect(exitCodeOf(own)).toBe(4)
      await given().subject.removeAll()
      await expectUntouched()
    })

    test('keeps its user, and code inside can neither use the agent nor outlive it', async () => {
      const plain = await startForeign(client, 'plain', { User: 'app' })
      const own = await traceOf(client, plain)
      const env = await given().subject.forkpoint.attach({ backend: kind.name, target: 'plain' })
      expect(await run(env, 'id -un; (sleep 1000 &)')).toBe('app\n')
      const { stdout } = await env.exec(['python3', '-B', '-c', askAgent], {
        mode: 'process',
        user: 'root',
      })
      expect(stdout).toBe('1 0\n')
      // It ends without a word, as if the kernel had killed it for its memory.
      const kill = await env
        .exec(['python3', '-B', '-c', killAgent], { mode: 'process', user: 'root' })
        .catch((error: unknown) => error)
      expect(kill).toBeInstanceOf(Error)
      await expect.poll(async () => (await env.info()).status, patiently).toBe('dead')
      await env.remove()
      // A relay ends when it notices that the agent has.
      const agents = async () =>
        (await traceOf(client, plain)).processes.filter((each) => each.includes('agent'))
      await expect.poll(agents, patiently).toEqual([])
      const { files } = await traceOf(client, plain)
      // Only the agent knew when /dev had been changed before.
      const withoutDev = (rows: readonly string[]) => rows.filter((row) => !row.startsWith('/dev '))
      expect(withoutDev(files)).toEqual(withoutDev(own.files))
      await removeForeign(client, plain)
    })

    test('that is missing, or that ended, is said to be so', async () => {
      const missing = await failureOf(attach('nothing'))
      expect(exitCodeOf(missing)).toBe(3)
      expect(String(missing)).toContain('has no container "nothing"')
      expect(exitCodeOf(await failureOf(attach('a/../b')))).toBe(2)
      const env = await attach()
      await client.text({ method: 'POST', path: `/containers/${foreign}/stop`, query: { t: 0 } })
      expect((await env.info()).status).toBe('dead')
      expect(exitCodeOf(await failureOf(attach()))).toBe(4)
      await env.remove()
    })
  })
}
