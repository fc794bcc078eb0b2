import { expect, test } from 'vitest'
import { DaemonProcess } from './support/daemon-process.ts'

const lines = Array.from({ length: 150 }, (_, index) => `line ${index + 1}\n`).join('')
const counting = 'for i in $(seq 1 150); do echo line $i; sleep 0.02; done'

test('a stream continues after the daemon was killed, without a missing or doubled byte', async () => {
  await using daemon = new DaemonProcess()
  await daemon.start()
  const fp = await daemon.connect()
  const env = await fp.create()
  const seen: Buffer[] = []
  const result = env.exec(counting, { onStdout: (chunk) => void seen.push(chunk) })
  const command = await env.spawn(['bash', '-c', counting], { mode: 'process' })
  const followed: Buffer[] = []
  const following = (async () => {
    for await (const chunk of command.stdout) followed.push(chunk)
  })()
  for (const at of ['line 20\n', 'line 60\n']) {
    await expect.poll(() => Buffer.concat(seen).toString()).toContain(at)
    await daemon.kill()
    await daemon.start()
  }
  expect(await result).toMatchObject({ exitCode: 0 })
  expect(Buffer.concat(seen).toString()).toBe(lines)
  await following
  expect(Buffer.concat(followed).toString()).toBe(lines)
  expect((await env.info()).status).toBe('running')
  await env.remove()
})

test.each(['create:recorded', 'create:finished'])(
  'a create is carried out once if the daemon dies at %s, and the client gets its answer',
  async (point) => {
    await using daemon = new DaemonProcess()
    await daemon.start({ FORKPOINT_KILL_AT: point })
    const fp = await daemon.connect()
    await fp.list()
    const created = fp.create({ name: 'once' })
    await daemon.ended()
    await daemon.start()
    const env = await created
    expect((await fp.list()).map(({ id }) => id)).toEqual([env.id])
    expect((await env.exec('echo alive')).stdout).toBe('alive\n')
    await env.remove()
  },
)

test.each(['fork:begun', 'fork:alive'])(
  'forks are made once if the daemon dies at %s, and no other is left',
  async (point) => {
    await using daemon = new DaemonProcess()
    await daemon.start({ FORKPOINT_KILL_AT: point })
    const fp = await daemon.connect()
    const env = await fp.create()
    const ready = await env.snapshot()
    const forking = ready.fork(2)
    await daemon.ended()
    await daemon.start()
    const forks = await forking
    const all = [env, ...forks].map(({ id }) => id)
    expect((await fp.list()).map(({ id }) => id).sort()).toEqual(all.sort())
    await Promise.all([env, ...forks].map((each) => each.remove({ force: true })))
  },
)

test('an exec with a key runs once, and a retry gets its output from the next daemon', async () => {
  await using daemon = new DaemonProcess()
  const listen = ['--listen', '127.0.0.1:0']
  const [, before = ''] = await daemon.start({}, ...listen)
  const fp = await daemon.connect()
  const env = await fp.create()
  const { token } = await fp.tokens.create({ scope: 'exec' })
  const command = 'echo run >> /tmp/runs; sleep 1; cat /tmp/runs'
  const exec = (url: string) =>
    fetch(`${url}/v1/environments/${env.id}/exec`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'idempotency-key': 'exec-1' },
      body: JSON.stringify({ command, mode: 'process' }),
    })
  const lost = exec(before).catch(() => null)
  await expect
    .poll(() => env.files.list('/tmp'))
    .toContainEqual(expect.objectContaining({ name: 'runs' }))
  await daemon.kill()
  expect(await lost).toBe(null)
  const [, after = ''] = await daemon.start({}, ...listen)
  for (let times = 0; times < 2; times += 1) {
    expect(await (await exec(after)).json()).toMatchObject({ stdout: 'run\n', exitCode: 0 })
  }
  await env.remove()
})

test('events continue after the last one that was seen, in the next daemon', async () => {
  await using daemon = new DaemonProcess()
  await daemon.start()
  const fp = await daemon.connect()
  const events = fp.events({ after: 0 })
  const env = await fp.create()
  expect((await events.next()).value).toMatchObject({ kind: 'create', environment: env.id })
  await daemon.kill()
  await daemon.start()
  await env.pause()
  await env.resume()
  expect((await events.next()).value).toMatchObject({ kind: 'pause' })
  expect((await events.next()).value).toMatchObject({ kind: 'resume' })
  await env.remove()
})
