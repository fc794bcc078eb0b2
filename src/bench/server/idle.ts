import { once } from 'node:events'
import { createConnection, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { BenchDaemon } from './daemon.ts'

const request = 'GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n'
/** For what the requests themselves used to be given back. */
const settleMs = 1000

/** The daemon's memory with this many connections that do nothing, and what they added. */
export async function idleConnections(
  daemon: BenchDaemon,
  count: number,
): Promise<{ readonly bytes: number; readonly addedBytes: number }> {
  const before = daemon.residentBytes()
  const sockets: Socket[] = []
  try {
    for (let i = 0; i < count; i += 1) sockets.push(await connected(daemon.socket))
    await sleep(settleMs)
    const bytes = daemon.residentBytes()
    return { bytes, addedBytes: bytes - before }
  } finally {
    for (const socket of sockets) socket.destroy()
  }
}

/** Answered once, and kept open. */
async function connected(path: string): Promise<Socket> {
  const socket = createConnection({ path })
  socket.write(request)
  await once(socket, 'data')
  return socket
}
