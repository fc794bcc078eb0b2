import { createConnection } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { startCommand } from '../../../src/agent/commands/commands.ts'
import { execCommand } from '../../../src/agent/commands/exec.ts'
import { readAgentInfo } from '../../../src/agent/environment.ts'
import { readFile } from '../../../src/agent/files/file-content.ts'
import { listFiles, statFile } from '../../../src/agent/files/files.ts'
import { openTerminal } from '../../../src/agent/terminals/terminals.ts'
import { openConnection } from '../../../src/agent/wire/connect.ts'
import type { AgentConnection } from '../../../src/agent/wire/connection.ts'
import { encodeRecord } from '../../../src/agent/wire/records.ts'
import { FrameType } from '../../../src/agent/wire/wire.ts'
import {
  BackendError,
  ConflictError,
  InvalidInputError,
  NotFoundError,
  TimeoutError,
} from '../../../src/model/errors.ts'
import { FakeAgent, type Script } from './fake-agent.ts'

/** Nothing here may take longer than a person would wait. */
const PATIENCE_MS = 10_000

async function against(
  script: Script,
  body: (connection: AgentConnection) => Promise<void>,
): Promise<void> {
  await using agent = await FakeAgent.start(script)
  await using connection = await openConnection(createConnection(agent.path), {
    helloTimeoutMs: 500,
  })
  await body(connection)
}

function header(length: number, type: number, channel: number, stream: number): Buffer {
  const bytes = Buffer.alloc(12)
  bytes.writeUInt32LE(length, 0)
  bytes.writeUInt8(type, 4)
  bytes.writeUInt8(channel, 5)
  bytes.writeUInt32LE(stream, 8)
  return bytes
}

describe('saying hello', { timeout: PATIENCE_MS }, () => {
  test('an agent that never answers is given up in time', async () => {
    await expect(
      against(
        () => {},
        async () => {},
      ),
    ).rejects.toThrow(TimeoutError)
  })

  test('an agent whose hello never ends is given up in time', async () => {
    const dribble: Script = async (agent) => {
      agent.socket.write(header(100_000, FrameType.hello, 0, 0))
      while (!agent.socket.destroyed) {
        agent.socket.write('x')
        await sleep(20)
      }
    }
    await expect(against(dribble, async () => {})).rejects.toThrow(TimeoutError)
  })

  test('an agent of another version is reported, with a remedy', async () => {
    const newer: Script = (agent) => agent.hello({ version: 7 })
    const failure = await against(newer, async () => {}).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(BackendError)
    expect(failure).toMatchObject({
      message: 'the agent speaks protocol version 7, this forkpoint speaks 1',
      remedy: expect.stringContaining('release'),
    })
  })

  test.each<[string, Script]>([
    ['garbage', (agent) => void agent.socket.write(Buffer.alloc(4096, 0xa5))],
    ['a length of 4 GB', (agent) => void agent.socket.write(header(0xffff_ffff, 1, 0, 0))],
    ['data before a hello', (agent) => agent.data(1, 1, Buffer.from('x'))],
    ['a hello without a version', (agent) => agent.hello({})],
    ['nothing but a hang-up', (agent) => void agent.socket.destroy()],
  ])('an agent that begins with %s is refused', async (_, script) => {
    await expect(against(script, async () => {})).rejects.toThrow(BackendError)
  })

  test('a caller who aborts does not have to wait', async () => {
    await using agent = await FakeAgent.start(() => {})
    const signal = AbortSignal.timeout(50)
    const opening = openConnection(createConnection(agent.path), { signal })
    await expect(opening).rejects.toThrow(/abort|timeout/i)
  })
})

describe('a hostile agent', { timeout: PATIENCE_MS }, () => {
  /** Does `misdeed` once the host has opened a stream. */
  const misdeeds: [string, RegExp, (agent: Parameters<Script>[0], stream: number) => void][] = [
    ['an absurd length', /4294967295 bytes/, (a) => a.socket.write(header(0xffff_ffff, 3, 1, 1))],
    ['an unknown frame type', /type 200/, (a) => a.socket.write(header(0, 200, 1, 1))],
    ['a stream that was never opened', /stream 99/, (a) => a.data(99, 1, Buffer.from('x'))],
    ['data on the input channel', /channel 0/, (a, s) => a.data(s, 0, Buffer.from('x'))],
    ['a second hello', /type 1/, (a) => a.hello()],
    ['its own open', /type 2/, (a, s) => a.socket.write(header(0, FrameType.open, 0, s))],
    [
      'endless credit',
      /credit/,
      (a, s) => {
        for (let i = 0; i < 20; i += 1) {
          const payload = Buffer.alloc(4, 0xff)
          a.send({ type: FrameType.window, channel: 0, stream: s, payload })
        }
      },
    ],
    [
      'a malformed window',
      /WINDOW/,
      (a, s) => {
        a.send({ type: FrameType.window, channel: 0, stream: s, payload: Buffer.alloc(3) })
      },
    ],
    [
      'data beyond the window',
      /window/,
      (a, s) => {
        for (let i = 0; i < 5; i += 1) a.data(s, 1, Buffer.alloc(65_536))
      },
    ],
    [
      'data after the end of a channel',
      /after the end/,
      (a, s) => {
        a.send({ type: FrameType.end, channel: 1, stream: s, payload: Buffer.alloc(0) })
        a.data(s, 1, Buffer.from('x'))
      },
    ],
    [
      'malformed fields',
      /field/,
      (a, s) => {
        a.send({ type: FrameType.event, channel: 0, stream: s, payload: Buffer.from('abc') })
      },
    ],
    [
      'an error without an errno',
      /errno/,
      (a, s) => {
        a.send({ type: FrameType.error, channel: 0, stream: s, payload: Buffer.alloc(0) })
      },
    ],
  ]

  test.each(misdeeds)(
    'that sends %s is cut off, and its commands fail',
    async (_, why, misdeed) => {
      const script: Script = (agent) => {
        agent.hello()
        agent.onOpen((stream) => misdeed(agent, stream))
      }
      await against(script, async (connection) => {
        const command = startCommand(connection, { mode: 'process', command: 'true' })
        await expect(command.wait()).rejects.toThrow(why)
        expect(await connection.closed).toBeInstanceOf(BackendError)
        expect(() => connection.open({}, { attempt: { verb: 'do', subject: 'it' } })).toThrow(why)
      })
    },
  )

  test('that hangs up fails pending calls, with an error that the connection was lost', async () => {
    const script: Script = (agent) => {
      agent.hello()
      agent.onOpen(() => agent.socket.destroy())
    }
    await against(script, async (connection) => {
      await expect(readAgentInfo(connection)).rejects.toThrow('connection to the agent was lost')
      await expect(connection.ping()).rejects.toThrow(BackendError)
    })
  })

  test('that answers no ping is noticed', async () => {
    await against(
      (agent) => agent.hello(),
      async (connection) => {
        await expect(connection.ping({ timeoutMs: 100 })).rejects.toThrow(TimeoutError)
      },
    )
  })

  test('that floods pings and does not read answers is cut off before memory runs out', async () => {
    const script: Script = (agent) => {
      agent.hello()
      agent.socket.pause()
      const payload = Buffer.alloc(131_072)
      const flood = () => {
        while (!agent.socket.destroyed) {
          const frame = { type: FrameType.ping, channel: 0, stream: 0, payload }
          agent.send(frame)
          if (agent.socket.writableNeedDrain) return
        }
      }
      agent.socket.on('drain', flood)
      flood()
    }
    await against(script, async (connection) => {
      expect(await connection.closed).toMatchObject({ message: expect.stringMatching(/not read/) })
    })
  })

  test('may still send data that was in flight when a stream was closed', async () => {
    const script: Script = (agent) => {
      agent.hello()
      agent.onFrame(({ type, stream }) => {
        if (type === FrameType.cancel) agent.data(stream, 1, Buffer.from('late'))
        if (type === FrameType.ping) {
          agent.send({ type: FrameType.pong, channel: 0, stream: 0, payload: pingBytes(1n) })
        }
      })
    }
    await against(script, async (connection) => {
      startCommand(connection, { mode: 'process', command: 'true' }).detach()
      expect(await connection.ping()).toBeGreaterThan(0)
      expect(connection.isOpen).toBe(true)
    })
  })

  test.each(['', '.', '..', 'a/b', '../../etc/passwd'])(
    'cannot list an entry named "%s"',
    async (name) => {
      const script: Script = (agent) => {
        agent.hello()
        agent.onOpen((stream) => {
          agent.data(stream, 1, encodeRecord({ name, type: 1, mode: 0, size: 0 }))
          agent.result(stream, {})
        })
      }
      await against(script, async (connection) => {
        await expect(listFiles(connection, '/')).rejects.toThrow(/entry named/)
      })
    },
  )

  test('cannot place file content where it was not requested', async () => {
    const script: Script = (agent) => {
      agent.hello()
      agent.onOpen((stream) => {
        agent.data(stream, 1, Buffer.concat([pingBytes(100n), Buffer.from('abc')]))
        agent.data(stream, 1, Buffer.concat([pingBytes(50n), Buffer.from('abc')]))
        agent.result(stream, { size: 103, mode: 0, mtimeNs: 0n })
      })
    }
    await against(script, async (connection) => {
      await expect(readFile(connection, '/f')).rejects.toThrow(/not requested/)
    })
  })

  test('cannot make a read into memory grow forever by claiming a huge file', async () => {
    const script: Script = (agent) => {
      agent.hello()
      agent.onOpen((stream) => agent.result(stream, { size: 2 ** 52, mode: 0, mtimeNs: 0n }))
    }
    await against(script, async (connection) => {
      const reading = readFile(connection, '/f', { maxBytes: 1_000_000 })
      await expect(reading).rejects.toThrow(/exceeds 1000000 bytes/)
    })
  })

  test('cannot announce a replay larger than any terminal keeps', async () => {
    const script: Script = (agent) => {
      agent.hello()
      agent.onOpen((stream) => agent.event(stream, { replayBytes: 2 ** 40, cols: 80, rows: 24 }))
    }
    await against(script, async (connection) => {
      await expect(openTerminal(connection, 'main')).rejects.toThrow(/replay/)
    })
  })
})

describe('errors of the agent', () => {
  test.each([
    [2, NotFoundError],
    [17, ConflictError],
    [22, InvalidInputError],
    [110, TimeoutError],
    [5, BackendError],
  ])('with errno %d become an error that a caller can recognize', async (errno, type) => {
    const script: Script = (agent) => {
      agent.hello()
      agent.onOpen((stream) => agent.error(stream, errno, 'no luck\x1b[2J'))
    }
    await against(script, async (connection) => {
      const failure = await statFile(connection, '/some/path').catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(type)
      expect(failure).toMatchObject({
        message: expect.stringMatching(/^cannot stat \/some\/path: no luck/),
      })
      // Control characters from inside never reach a terminal outside.
      expect(String(failure)).not.toContain('\x1b')
    })
  })

  test('a request too long for the agent is refused before it is sent', async () => {
    await against(
      (agent) => agent.hello(),
      async (connection) => {
        const command = 'x'.repeat(5_000_000)
        const running = execCommand(connection, { mode: 'process', command })
        await expect(running).rejects.toThrow(InvalidInputError)
        expect(connection.isOpen).toBe(true)
      },
    )
  })

  test('a relative path is refused before it is sent', async () => {
    await against(
      (agent) => agent.hello(),
      async (connection) => {
        await expect(statFile(connection, 'etc')).rejects.toThrow(/not an absolute path: "etc"/)
      },
    )
  })

  test('a call whose signal is already aborted sends nothing', async () => {
    let opened = 0
    const script: Script = (agent) => {
      agent.hello()
      agent.onOpen(() => {
        opened += 1
      })
    }
    await against(script, async (connection) => {
      const signal = AbortSignal.abort(new Error('no longer wanted'))
      await expect(statFile(connection, '/', { signal })).rejects.toThrow('no longer wanted')
      expect(opened).toBe(0)
    })
  })
})

function pingBytes(value: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return bytes
}
