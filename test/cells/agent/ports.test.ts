import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startCommand } from '../../../src/agent/commands/commands.ts'
import { execCommand } from '../../../src/agent/commands/exec.ts'
import { connectPort, forwardPort } from '../../../src/agent/ports.ts'
import type { AgentConnection } from '../../../src/agent/wire/connection.ts'
import { ConflictError } from '../../../src/model/errors.ts'
import { unless } from '../../support/evidence.ts'
import { TestAgent, whyNoAgent } from './run-agent.ts'

const PYTHON_PORT = 18_732
const ECHO_PORT = 18_733
const python = { PATH: process.env.PATH ?? '' }

/** Reads everything, then answers with the number of bytes and the bytes themselves. */
const echoServer = `
import socket
server = socket.create_server(('127.0.0.1', ${ECHO_PORT}))
while True:
    peer, _ = server.accept()
    data = b''
    while chunk := peer.recv(1 << 16):
        data += chunk
    peer.sendall(str(len(data)).encode() + b':' + data)
    peer.close()
`

describe('a forwarded port', unless(whyNoAgent), () => {
  let agent: TestAgent
  let connection: AgentConnection

  beforeAll(async () => {
    agent = await TestAgent.start()
    connection = await agent.connect()
    const web = `exec python3 -m http.server ${PYTHON_PORT} --bind 127.0.0.1`
    for (const command of [web, ['python3', '-c', echoServer]]) {
      const server = startCommand(connection, {
        mode: 'process',
        command,
        cwd: '/usr',
        env: python,
      })
      server.stdout.discard()
      server.stderr.discard()
    }
    for (const port of [PYTHON_PORT, ECHO_PORT]) await waitFor(port)
  })
  afterAll(() => agent?.[Symbol.asyncDispose]())

  async function waitFor(port: number): Promise<void> {
    for (let tries = 0; tries < 400; tries += 1) {
      try {
        const stream = await connectPort(connection, { port })
        stream.cancel()
        return
      } catch {
        // Nothing listens there yet.
        await sleep(50)
      }
    }
    throw new Error(`nothing listens on ${port}`)
  }

  async function talk(port: number, data: Buffer): Promise<Buffer> {
    const socket = connect({ host: '127.0.0.1', port, allowHalfOpen: true })
    const chunks: Buffer[] = []
    const reading = (async () => {
      for await (const chunk of socket) chunks.push(chunk)
    })()
    socket.end(data)
    await reading
    return Buffer.concat(chunks)
  }

  test('brings a web server inside to the host', async () => {
    await using forward = await forwardPort(async () => connection, { port: PYTHON_PORT })
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => fetch(`http://${forward.host}:${forward.port}/share/`)),
    )
    for (const answer of answers) expect(await answer.text()).toContain('Directory listing')
  })

  test('carries a lot of data both ways, and ends each direction separately', async () => {
    await using forward = await forwardPort(async () => connection, { port: ECHO_PORT })
    const data = Buffer.alloc(20_000_000, 'abcdefghijk')
    const answer = await talk(forward.port, data)
    const colon = answer.indexOf(':')
    expect(String(answer.subarray(0, colon))).toBe('20000000')
    expect(answer.subarray(colon + 1).equals(data)).toBe(true)
  })

  test('closes a connection that is refused inside', async () => {
    await using forward = await forwardPort(async () => connection, { port: 1 })
    await expect(talk(forward.port, Buffer.from('hello')))
      .resolves.toHaveLength(0)
      .catch((error: Error) => expect(error.message).toMatch(/ECONNRESET|EPIPE/))
    await expect(connectPort(connection, { port: 1 })).rejects.toThrow(/127.0.0.1:1 inside/)
  })

  test('stops when it is closed, and so do its connections', async () => {
    const forward = await forwardPort(async () => connection, { port: ECHO_PORT })
    const socket = connect(forward.port, '127.0.0.1')
    const closed = new Promise((resolve) => socket.once('close', resolve))
    socket.on('error', () => {})
    await new Promise((resolve) => socket.once('connect', resolve))
    await sleep(100)
    await forward.close()
    await closed
    await expect(fetch(`http://127.0.0.1:${forward.port}/`)).rejects.toThrow()
  })

  test('outlives the connection to the agent it began with', async () => {
    let current = await agent.connect()
    await using forward = await forwardPort(async () => current, { port: PYTHON_PORT })
    await current.close()
    current = await agent.connect()
    expect((await fetch(`http://127.0.0.1:${forward.port}/`)).status).toBe(200)
  })

  test('that is in use on the host is a conflict', async () => {
    await using first = await forwardPort(async () => connection, { port: ECHO_PORT })
    const second = forwardPort(async () => connection, { port: ECHO_PORT, listenPort: first.port })
    await expect(second).rejects.toThrow(ConflictError)
  })

  test('does not delay commands while it is busy', async () => {
    await using forward = await forwardPort(async () => connection, { port: ECHO_PORT })
    const busy = talk(forward.port, Buffer.alloc(30_000_000))
    const { stdout } = await execCommand(connection, { mode: 'process', command: 'echo quick' })
    expect(String(stdout)).toBe('quick\n')
    await busy
  })
})
