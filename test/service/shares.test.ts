import { afterAll, describe, expect, test } from 'vitest'
import { DaemonProcess } from './support/daemon-process.ts'

const mib = 1024 ** 2
const daemon = new DaemonProcess()
afterAll(() => daemon[Symbol.asyncDispose]())

const limited = { FORKPOINT_ADMISSION_EACH_DISK: '160m' }
const [, url = ''] = await daemon.start(limited, '--listen', '127.0.0.1:0')
const local = await daemon.connect()

/** What one token does, over TCP. */
async function tenant() {
  const { token } = await local.tokens.create({ scope: 'branch' })
  const send = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${url}/v1/${path}`, {
      method,
      headers: { authorization: `Bearer ${token}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    const answer = text === '' ? null : JSON.parse(text)
    return { status: response.status, after: response.headers.get('retry-after'), answer }
  }
  return {
    create: (diskMib?: number) =>
      send('POST', 'environments', diskMib && { limits: { diskBytes: diskMib * mib } }),
    fork: (id: string) => send('POST', `environments/${id}/fork`, { count: 1 }),
    snapshot: (id: string) => send('POST', `environments/${id}/snapshots`, {}),
    exec: (id: string, command: string) => send('POST', `environments/${id}/exec`, { command }),
    remove: (id: string) => send('DELETE', `environments/${id}?force=true`),
    removeSnapshot: (id: string) => send('POST', 'snapshots/remove', { references: [id] }),
  }
}

const full = {
  status: 507,
  after: expect.stringMatching(/^\d+$/),
  answer: {
    error: {
      code: 'resource',
      remedy: expect.stringContaining('admission.each.disk'),
      detail: expect.objectContaining({ scarce: 'diskBytes' }),
    },
  },
}

describe('a token at its limit on disk', () => {
  test('is refused before anything is made, and others continue', async () => {
    const [one, other] = [await tenant(), await tenant()]
    const { answer: first } = await one.create(96)
    const before = (await local.operations()).length
    expect(await one.create(96)).toMatchObject(full)
    expect(await one.fork(first.id)).toMatchObject(full)
    // Without a limit it may take all of the disk.
    expect(await one.create()).toMatchObject(full)
    expect((await local.list()).map(({ id }) => id)).toEqual([first.id])
    expect((await local.operations()).length).toBe(before)
    expect(await one.exec(first.id, 'echo on')).toMatchObject({ answer: { stdout: 'on\n' } })

    const { status, answer: theirs } = await other.create(96)
    expect(status).toBe(200)
    await one.remove(first.id)
    const { answer: second } = await one.create(160)
    expect(second).toMatchObject({ status: 'running' })
    await one.remove(second.id)
    await other.remove(theirs.id)
  })

  test('cannot go around it with snapshots, which count even after their environment', async () => {
    const [one, other] = [await tenant(), await tenant()]
    const { answer: env } = await one.create(128)
    await one.exec(env.id, 'head -c 40M /dev/urandom > /root/data')
    const { answer: taken } = await one.snapshot(env.id)
    // Its files are counted a moment after it was taken.
    await (await local.snapshot(taken.id)).durable()
    expect(await one.snapshot(env.id)).toMatchObject(full)
    await one.remove(env.id)
    expect(await one.create(128)).toMatchObject(full)
    const { status, answer: theirs } = await other.create(128)
    expect(status).toBe(200)
    await one.removeSnapshot(taken.id)
    const { answer: again } = await one.create(128)
    expect(again).toMatchObject({ status: 'running' })
    await one.remove(again.id)
    await other.remove(theirs.id)
  })
})
