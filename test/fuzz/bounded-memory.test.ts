// How much memory an agent can make the host use, measured in a separate process.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { encodeFrame } from '../../src/agent/wire/frames.ts'
import { encodeRecord } from '../../src/agent/wire/records.ts'
import { FrameType } from '../../src/agent/wire/wire.ts'
import { FakeAgent, type FakeSide } from '../unit/agent/fake-agent.ts'

const program = fileURLToPath(new URL('programs/measured-host.ts', import.meta.url))
/** A process that does nothing has about 90. */
const mostMiB = 400

interface Measured {
  readonly outcome: string
  readonly mib: number
}

async function measured(
  question: string,
  misdeed: (agent: FakeSide, stream: number) => Promise<void>,
): Promise<Measured> {
  await using agent = await FakeAgent.start((side) => {
    side.hello()
    side.onOpen((stream) => void misdeed(side, stream))
  })
  const args = ['--disable-warning=ExperimentalWarning', program, agent.path, question]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  return JSON.parse(stdout)
}

/** Sends at the pace of the reader, as long as there is one. */
async function send({ socket }: FakeSide, bytes: Buffer): Promise<void> {
  if (socket.destroyed || socket.write(bytes)) return
  using over = new DisposableStack()
  const stop = new AbortController()
  over.defer(() => stop.abort())
  const { signal } = stop
  const drained = once(socket, 'drain', { signal }).catch(() => {})
  const closed = once(socket, 'close', { signal }).catch(() => {})
  await Promise.race([drained, closed])
}

/** Fills a chunk of the socket, and is then discarded. */
const padding = encodeFrame({
  type: FrameType.pong,
  channel: 0,
  stream: 0,
  payload: Buffer.alloc(65_000),
})

function data(stream: number, payload: Buffer): Buffer {
  return encodeFrame({ type: FrameType.data, channel: 1, stream, payload })
}

/** Sends data no faster than the host takes it. */
class Window {
  #credit = 262_144

  constructor(agent: FakeSide) {
    agent.onFrame(({ type, payload }) => {
      if (type === FrameType.window) this.#credit += payload.readUInt32LE(0)
    })
  }

  async take(bytes: number, agent: FakeSide): Promise<boolean> {
    while (this.#credit < bytes && !agent.socket.destroyed) {
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
    this.#credit -= bytes
    return !agent.socket.destroyed
  }
}

test.each([
  ['small entries', 'x'],
  ['long names', 'x'.repeat(60_000)],
  ['long names that are not UTF-8', '\udc80'.repeat(60_000)],
])('an endless listing of %s is refused in bounded memory', async (_, name) => {
  const facts = { type: 1, mode: 0, size: 0, blocks: 0, mtimeNs: 1n, uid: 0, gid: 0, nlink: 1 }
  const record = encodeRecord({ name, ...facts })
  const many = Buffer.concat(
    Array.from({ length: Math.ceil(65_536 / record.length) }, () => record),
  )
  const { outcome, mib } = await measured('list', async (agent, stream) => {
    const window = new Window(agent)
    while (await window.take(many.length, agent)) await send(agent, data(stream, many))
  })
  expect(outcome).toBe('resource')
  expect(mib).toBeLessThan(mostMiB)
})

test('a byte of output does not keep its whole chunk in memory', async () => {
  const { outcome, mib } = await measured('exec', async (agent, stream) => {
    agent.event(stream, { pid: 1 })
    for (let i = 0; i < 10_000 && !agent.socket.destroyed; i += 1) {
      await send(agent, Buffer.concat([data(stream, Buffer.from('x')), padding]))
    }
    agent.result(stream, { exitCode: 0, durationUs: 1 })
  })
  expect(outcome).toBe('done')
  expect(mib).toBeLessThan(mostMiB)
})

test('content that waits for its reader does not keep whole chunks in memory', async () => {
  const { outcome, mib } = await measured('content', async (agent, stream) => {
    for (let i = 0; i < 10_000 && !agent.socket.destroyed; i += 1) {
      const payload = Buffer.alloc(9, 'x')
      payload.writeBigUInt64LE(BigInt(i))
      await send(agent, Buffer.concat([data(stream, payload), padding]))
    }
  })
  expect(outcome).toBe('done')
  expect(mib).toBeLessThan(mostMiB)
})

test('a screen of any size and content is drawn in bounded memory', async () => {
  const payload = Buffer.from('\x1b[2000b\u0301\x1b]8;;http://x/y\x07z'.repeat(3000))
  const { outcome, mib } = await measured('screen', async (agent, stream) => {
    const facts = { cols: 2 ** 40, rows: 2 ** 40, pid: 1 }
    agent.event(stream, { replayBytes: 1_048_576, ...facts })
    const window = new Window(agent)
    while (await window.take(65_536, agent))
      await send(agent, data(stream, payload.subarray(0, 65_536)))
  })
  expect(outcome).toMatch(/done|resource/)
  expect(mib).toBeLessThan(mostMiB)
})
