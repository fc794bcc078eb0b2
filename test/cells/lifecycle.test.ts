import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { ConflictError, InvalidInputError, NotFoundError } from '../../src/index.ts'
import { agentPid, hostPids } from '../support/cell-processes.ts'
import { HeldNamespaces } from '../support/held-namespaces.ts'
import { patiently } from '../support/patiently.ts'
import { expectNothing, remainsOf } from '../support/remains.ts'
import { TestHome } from '../support/test-home.ts'

const home = new TestHome('lifecycle')
afterAll(() => home[Symbol.asyncDispose]())
afterEach(() => home.removeAll())
const fp = await home.open()

describe('pause and resume', () => {
  const counting = 'i=0; while :; do i=$((i+1)); echo $i > /root/count; sleep 0.01; done'

  test('nothing runs while paused, and everything continues where it was', async () => {
    const env = await fp.create()
    await env.spawn(['bash', '-c', counting], { mode: 'process' })
    const count = async () => Number((await env.files.read('/root/count')).toString())
    await expect.poll(async () => await count().catch(() => 0), patiently).toBeGreaterThan(2)
    await env.pause()
    expect((await env.info()).status).toBe('paused')
    const cpuMs = (await env.stats()).cpuMs
    await sleep(300)
    expect((await env.stats()).cpuMs - cpuMs).toBeLessThanOrEqual(1)
    await env.resume()
    expect((await env.info()).status).toBe('running')
    const after = await count()
    await expect.poll(count, patiently).toBeGreaterThan(after)
  })

  test('a command in a paused environment is refused immediately, with a remedy', async () => {
    const env = await fp.create({ name: 'napping' })
    await env.pause()
    const refusal = await env.exec('true').catch((error: unknown) => error)
    expect(refusal).toBeInstanceOf(ConflictError)
    expect(refusal).toMatchObject({
      message: 'environment napping is paused',
      remedy: 'resume it with `forkpoint resume napping`',
    })
    await env.resume()
    expect((await env.exec('echo awake')).stdout).toBe('awake\n')
  })

  test('pausing twice and resuming twice change nothing', async () => {
    const env = await fp.create()
    await env.resume()
    await env.pause()
    await env.pause()
    expect((await env.info()).status).toBe('paused')
    await env.resume()
    await env.resume()
    expect((await env.exec('echo here')).stdout).toBe('here\n')
  })

  test('a command that runs when it is paused can end after it is resumed', async () => {
    const env = await fp.create()
    const running = env.exec('for i in 1 2 3; do echo $i; sleep 0.1; done')
    await sleep(50)
    await env.pause()
    await sleep(500)
    await env.resume()
    expect((await running).stdout).toBe('1\n2\n3\n')
  })

  test('another process sees that an environment is paused, and can remove it', async () => {
    const env = await fp.create()
    await env.pause()
    const other = await home.open()
    const [seen] = await other.list({ status: 'paused' })
    expect(seen?.id).toBe(env.id)
    await seen?.remove()
    await expectNothing(home)
    await expect(env.exec('true')).rejects.toBeInstanceOf(NotFoundError)
  })
})

describe('names', () => {
  test('are unique', async () => {
    await fp.create({ name: 'taken' })
    await expect(fp.create({ name: 'taken' })).rejects.toBeInstanceOf(ConflictError)
    expect((await fp.list()).length).toBe(1)
  })

  test('can be changed to another free name', async () => {
    const env = await fp.create({ name: 'before' })
    await fp.create({ name: 'other' })
    await expect(env.rename('other')).rejects.toBeInstanceOf(ConflictError)
    await expect(env.rename('../up')).rejects.toBeInstanceOf(InvalidInputError)
    await env.rename('after')
    expect(env.name).toBe('after')
    expect((await fp.get('after')).id).toBe(env.id)
    await expect(fp.get('before')).rejects.toBeInstanceOf(NotFoundError)
    const identity = JSON.parse((await env.exec('cat /run/forkpoint/identity.json')).stdout)
    expect(identity.name).toBe('after')
    await fp.create({ name: 'before' })
  })

  test('of a removed environment are free again', async () => {
    await (await fp.create({ name: 'again' })).remove()
    await fp.create({ name: 'again' })
  })

  test('are given to only one of two environments created at the same time', async () => {
    const other = await home.open()
    const outcomes = await Promise.allSettled([
      fp.create({ name: 'wanted' }),
      other.create({ name: 'wanted' }),
      fp.create({ name: 'wanted' }),
    ])
    expect(outcomes.map(({ status }) => status).sort()).toEqual([
      'fulfilled',
      'rejected',
      'rejected',
    ])
    expect((await fp.list()).length).toBe(1)
  })
})

describe('identity', () => {
  test('every environment has its own hostname, machine-id and identity', async () => {
    const [one, two] = await Promise.all([fp.create({ name: 'One_1' }), fp.create()])
    const look = 'hostname; cat /etc/hostname /etc/machine-id /run/forkpoint/identity.json'
    const reported = await Promise.all(
      [one, two].map(async (env) => {
        const { stdout } = await env.exec(look)
        const [hostname, file, machineId, ...json] = stdout.split('\n')
        return { hostname, file, machineId, identity: JSON.parse(json.join('\n')) }
      }),
    )
    expect(reported[0]).toMatchObject({ hostname: 'one-1', file: 'one-1' })
    expect(reported[1]).toMatchObject({ hostname: two.id, file: two.id })
    for (const [index, env] of [one, two].entries()) {
      const { hostname, machineId, identity } = reported[index] ?? {}
      expect(identity).toEqual({ id: env.id, name: env.name, hostname, machineId })
      expect(machineId).toMatch(/^[0-9a-f]{32}$/)
      expect((await env.exec(`getent hosts ${hostname}`)).stdout).toContain('127.0.1.1')
    }
    expect(reported[0]?.machineId).not.toBe(reported[1]?.machineId)
  })

  test('variables and the working directory apply to every command', async () => {
    const env = await fp.create({ env: { MODE: 'a b"c', EMPTY: '' }, workdir: '/usr/share' })
    const look = 'echo "$MODE|$EMPTY|$PWD"'
    expect((await env.exec(look)).stdout).toBe('a b"c||/usr/share\n')
    const fresh = await env.exec(['bash', '-c', look], { mode: 'process' })
    expect(fresh.stdout).toBe('a b"c||/usr/share\n')
  })
})

describe('remove', () => {
  test('leaves nothing behind: no process, mount, cgroup, namespace, device, interface or file', async () => {
    await expectNothing(home)
    const env = await fp.create({ net: 'nat', name: 'whole' })
    await env.exec('sleep 1000 & (setsid sleep 1000 &) ; touch /root/file')
    await env.spawn(['bash', '-c', 'trap "" TERM INT HUP; sleep 1000'], { mode: 'process' })
    {
      using namespaces = new HeldNamespaces(agentPid(home, env))
      expect(namespaces.names.map((name) => name.split(':')[0])).toEqual(
        expect.arrayContaining(['cgroup', 'ipc', 'mnt', 'net', 'pid', 'user', 'uts']),
      )
      expect(namespaces.inhabited()).toEqual(namespaces.names)
      const there = remainsOf(home)
      for (const [kind, found] of Object.entries(there)) expect(found, kind).not.toEqual([])
      await env.remove()
      expect(namespaces.inhabited()).toEqual([])
    }
    await expectNothing(home)
  })

  test('of one leaves the others alone', async () => {
    const [kept, removed] = await Promise.all([fp.create(), fp.create()])
    await kept.exec('cd /tmp; X=1')
    await removed.remove()
    expect((await kept.exec('echo $PWD $X')).stdout).toBe('/tmp 1\n')
  })

  test('ends a running command', async () => {
    const env = await fp.create()
    const running = env.exec('sleep 1000').catch((error: unknown) => error)
    await sleep(100)
    await env.remove()
    expect(await running).toBeInstanceOf(Error)
  })

  test('can be called twice', async () => {
    const env = await fp.create()
    await Promise.all([env.remove(), env.remove()])
    await env.remove()
    await expect(fp.get(env.id)).rejects.toBeInstanceOf(NotFoundError)
  })

  test('of a paused environment with many processes works', async () => {
    const env = await fp.create()
    await env.exec('for i in $(seq 100); do sleep 1000 & done')
    await env.pause()
    expect(hostPids(home, env).length).toBeGreaterThan(100)
    await env.remove()
    await expectNothing(home)
  })
})

describe('create', () => {
  test('that is aborted leaves nothing behind', async () => {
    const signal = AbortSignal.timeout(40)
    await expect(fp.create({ name: 'aborted', signal })).rejects.toThrow()
    expect(await fp.list()).toEqual([])
    await expectNothing(home)
  })

  test('that fails half-way leaves nothing behind', async () => {
    // With a single user id, a late step fails: the terminals of the cell cannot be mounted.
    const odd = await home.open({ 'ids.count': 1 })
    await expect(odd.create({ name: 'odd' })).rejects.toThrow()
    expect(await fp.list()).toEqual([])
    await expectNothing(home)
  })
})
