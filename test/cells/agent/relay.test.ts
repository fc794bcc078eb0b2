import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { createServer, type Server, type Socket } from 'node:net'
import { buffer, text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { nativeProgram } from '../../../src/linux/native-program.ts'
import { TemporaryDirectory } from '../../support/temporary-directory.ts'

const directories: TemporaryDirectory[] = []
let path = ''
let server: Server

beforeEach(() => {
  const directory = new TemporaryDirectory()
  directories.push(directory)
  path = directory.file('socket')
  server = createServer({ allowHalfOpen: true })
})

afterEach(() => {
  server.close()
  for (const directory of directories.splice(0)) directory[Symbol.dispose]()
})

function relay(...more: string[]) {
  const child = spawn(nativeProgram('agent'), ['--relay', path, ...more])
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  return { child, ended }
}

function accepted(): Promise<Socket> {
  return new Promise((resolve) => server.once('connection', resolve))
}

describe('agent --relay', () => {
  test('passes bytes both ways, and each end on its own', async () => {
    server.listen(path)
    const { child, ended } = relay()
    const socket = await accepted()
    const there = randomBytes(3_000_000)
    const back = randomBytes(3_000_000)
    child.stdin.end(there)
    expect((await buffer(socket)).equals(there)).toBe(true)
    // The other direction is still open.
    socket.end(back)
    expect((await buffer(child.stdout)).equals(back)).toBe(true)
    expect(await ended).toBe(0)
  })

  test('waits for a socket that is not there yet', async () => {
    const { child, ended } = relay()
    await sleep(200)
    server.listen(path)
    const socket = await accepted()
    socket.end('late')
    expect(await text(child.stdout)).toBe('late')
    expect(await ended).toBe(0)
  })

  test('ends when the agent hangs up, although the host sends nothing', async () => {
    server.listen(path)
    const { ended } = relay()
    const socket = await accepted()
    socket.destroy()
    expect(await ended).toBe(0)
  })

  test('ends when nobody reads its output anymore', async () => {
    server.listen(path)
    const { child, ended } = relay()
    const socket = await accepted()
    socket.on('error', () => {})
    child.stdout.destroy()
    socket.write(randomBytes(1_000_000))
    expect(await ended).toBe(1)
  })

  test('refuses a socket that another process listens on', async () => {
    server.listen(path)
    const { child, ended } = relay('--listener', '1')
    expect(await text(child.stderr)).toContain(
      `process ${process.pid} listens on ${path}, not the agent, which is process 1`,
    )
    expect(await ended).toBe(1)
    const { child: other } = relay('--listener', String(process.pid))
    const socket = await accepted()
    socket.end('hello')
    expect(await text(other.stdout)).toBe('hello')
  })
})
