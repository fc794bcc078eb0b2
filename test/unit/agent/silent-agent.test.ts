// An agent that says hello and then nothing, or only answers pings: every request ends by the
// host's own clock. Seconds are short here.
import { createConnection } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { attachCommand, listCommands, startCommand } from '../../../src/agent/commands/commands.ts'
import { execCommand } from '../../../src/agent/commands/exec.ts'
import { configure, quiesce, setIdentity } from '../../../src/agent/environment.ts'
import { ConnectionLostError } from '../../../src/agent/failures.ts'
import { readFile, writeFile } from '../../../src/agent/files/file-content.ts'
import { watchFiles } from '../../../src/agent/files/file-watch.ts'
import { listFiles, removeFile, statFile } from '../../../src/agent/files/files.ts'
import { connectPort } from '../../../src/agent/ports.ts'
import { openTerminal } from '../../../src/agent/terminals/terminals.ts'
import { type ConnectOptions, openConnection } from '../../../src/agent/wire/connect.ts'
import type { AgentConnection } from '../../../src/agent/wire/connection.ts'
import { FrameType } from '../../../src/agent/wire/wire.ts'
import { BackendError, TimeoutError } from '../../../src/model/errors.ts'
import { FakeAgent, type FakeSide, type Script } from './fake-agent.ts'

const secondMs = 2

async function against(
  script: Script,
  body: (connection: AgentConnection) => Promise<void>,
  options: ConnectOptions = {},
): Promise<void> {
  await using agent = await FakeAgent.start(script)
  await using connection = await openConnection(createConnection(agent.path), {
    secondMs,
    ...options,
  })
  await body(connection)
}

function answerPings(agent: FakeSide): void {
  agent.onFrame(({ type, payload }) => {
    if (type === FrameType.ping) {
      agent.send({ type: FrameType.pong, channel: 0, stream: 0, payload })
    }
  })
}

const mute: Script = (agent) => agent.hello()
const pongsOnly: Script = (agent) => {
  agent.hello()
  answerPings(agent)
}

type Ask = (connection: AgentConnection) => Promise<unknown>

const requests: [string, Ask][] = [
  ['quiesce', (c) => quiesce(c)],
  ['identity', (c) => setIdentity(c, { hostname: 'h', machineId: 'm' })],
  ['configure', (c) => configure(c, {})],
  ['stat', (c) => statFile(c, '/x')],
  ['remove of a tree', (c) => removeFile(c, '/x', { recursive: true })],
  ['list', (c) => listFiles(c, '/x')],
  ['read', (c) => readFile(c, '/x')],
  ['write', (c) => writeFile(c, '/x', Buffer.alloc(1_000_000))],
  ['small write', (c) => writeFile(c, '/x', 'x')],
  ['watch', (c) => watchFiles(c, '/x')],
  ['port', (c) => connectPort(c, { port: 80 })],
  ['terminal', (c) => openTerminal(c, 'main')],
  ['commands', (c) => listCommands(c)],
  ['attach', (c) => attachCommand(c, 'c-1')],
  ['start of a process', (c) => startCommand(c, { mode: 'process', command: 'x' }).wait()],
  ['exec with a timeout', (c) => execCommand(c, { mode: 'shell', command: 'x', timeoutMs: 1000 })],
]

describe('a call to an agent that says hello and then nothing:', () => {
  test.each(requests)('%s ends in time', async (_, ask) => {
    await against(mute, async (connection) => {
      await expect(ask(connection)).rejects.toThrow(TimeoutError)
    })
  })

  test('a command without a timeout fails, because pings are not answered', async () => {
    await against(mute, async (connection) => {
      const running = execCommand(connection, { mode: 'shell', command: 'sleep inf' })
      await expect(running).rejects.toThrow(/has not answered for 60 s/)
    })
  })
})

describe('a call to an agent that only answers pings:', () => {
  test.each(requests)('%s ends in time', async (_, ask) => {
    await against(pongsOnly, async (connection) => {
      await expect(ask(connection)).rejects.toThrow(TimeoutError)
      expect(connection.isOpen).toBe(true)
    })
  })

  test('a command without a timeout may be silent forever', async () => {
    await against(pongsOnly, async (connection) => {
      const command = startCommand(connection, { mode: 'shell', command: 'sleep inf' })
      const ended = await Promise.race([command.wait(), sleep(200 * secondMs, 'runs')])
      expect(ended).toBe('runs')
      command.detach()
    })
  })
})

test('an agent that agrees to close its connections but does not is abandoned', async () => {
  const script: Script = (agent) => {
    pongsOnly(agent)
    agent.onOpen((stream) => agent.result(stream, {}))
  }
  await against(script, async (connection) => {
    const signal = AbortSignal.timeout(100)
    await expect(quiesce(connection, { signal })).rejects.toThrow(/abort|timeout/i)
    await expect(connection.closed).resolves.toBeInstanceOf(Error)
  })
})

test('a transfer that is slow but moves is not cut off', async () => {
  const script: Script = (agent) => {
    agent.hello()
    agent.onOpen(async (stream) => {
      for (let at = 0; at < 5; at += 1) {
        await sleep(100)
        const offset = Buffer.alloc(8)
        offset.writeBigUInt64LE(BigInt(at))
        agent.data(stream, 1, Buffer.concat([offset, Buffer.from('x')]))
      }
      agent.result(stream, { size: 5, mode: 0, mtimeNs: 0n })
    })
  }
  await against(
    script,
    async (connection) => {
      expect((await readFile(connection, '/f')).toString()).toBe('xxxxx')
    },
    // Twenty seconds between two bytes, a hundred in all.
    { secondMs: 5 },
  )
})

test('our own slow reader does not count against the agent', async () => {
  const script: Script = (agent) => {
    pongsOnly(agent)
    agent.onOpen((stream) => {
      agent.event(stream, { pid: 1 })
      agent.data(stream, 1, Buffer.from('one'))
      agent.result(stream, { exitCode: 0, durationUs: 1 })
    })
  }
  await against(script, async (connection) => {
    const { exitCode } = await execCommand(
      connection,
      { mode: 'process', command: 'x', timeoutMs: 1000 },
      { onStdout: () => sleep(100 * secondMs) },
    )
    expect(exitCode).toBe(0)
  })
})

test('the agent of a paused environment is not abandoned', async () => {
  let isPaused = true
  const script: Script = (agent) => {
    agent.hello()
    agent.onOpen(async (stream) => {
      await sleep(200 * secondMs)
      agent.result(stream, { hostname: 'late' })
      // The answer is on its way for longer than these seconds last.
      await sleep(20 * secondMs)
      isPaused = false
    })
  }
  await against(
    script,
    async (connection) => {
      await expect(connection.request({ verb: 'ask', subject: 'it' }, {})).resolves.toBeDefined()
    },
    { isSuspended: async () => isPaused },
  )
})

test('a command starts over the next connection if the first has just ended', async () => {
  const script: Script = (agent) => {
    agent.hello()
    agent.onOpen((stream) => {
      agent.event(stream, { pid: 1 })
      agent.result(stream, { exitCode: 0, durationUs: 1 })
    })
  }
  await using agent = await FakeAgent.start(script)
  const connect = () => openConnection(createConnection(agent.path))
  const ended = await connect()
  await ended.close()
  const spec = { mode: 'process', command: 'x' } as const
  await expect(execCommand(ended, spec)).rejects.toThrow(ConnectionLostError)
  const { exitCode } = await execCommand(ended, spec, { reconnect: connect })
  expect(exitCode).toBe(0)
})

test('an agent that hangs up at every attach is abandoned', async () => {
  const script: Script = (agent) => {
    agent.hello()
    agent.onOpen(() => agent.socket.destroy())
  }
  await using agent = await FakeAgent.start(script)
  const connect = () => openConnection(createConnection(agent.path))
  const running = execCommand(
    await connect(),
    { mode: 'shell', command: 'x' },
    { reconnect: connect },
  )
  await expect(running).rejects.toThrow(BackendError)
})

test('a command that its agent does not end in time fails, however much output it sends', async () => {
  const script: Script = (agent) => {
    pongsOnly(agent)
    agent.onOpen(async (stream) => {
      agent.event(stream, { pid: 1 })
      while (!agent.socket.destroyed) {
        agent.data(stream, 1, Buffer.from('more'))
        await sleep(1)
      }
    })
  }
  await against(script, async (connection) => {
    const running = execCommand(connection, { mode: 'shell', command: 'x', timeoutMs: 1000 })
    await expect(running).rejects.toThrow(/did not end a command that may run for 1/)
  })
})
