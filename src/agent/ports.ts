import { createServer, type Server, type Socket } from 'node:net'
import { BackendError } from '../model/errors.ts'
import { hostRefusal, protocolError } from './failures.ts'
import type { AgentConnection, CallOptions } from './wire/connection.ts'
import type { Patience } from './wire/patience.ts'
import type { AgentStream } from './wire/stream.ts'
import { Op } from './wire/wire.ts'

export interface PortTarget {
  /** Default 127.0.0.1, as seen inside. */
  readonly host?: string
  readonly port: number
}

export interface ForwardOptions extends PortTarget, CallOptions {
  /** Default 127.0.0.1. */
  readonly listenHost?: string
  /** Default 0: any free one. */
  readonly listenPort?: number
}

export interface PortForward extends AsyncDisposable {
  readonly host: string
  readonly port: number
  /** Stops listening and ends the connections that are open. */
  close(): Promise<void>
}

/** The kernel inside gives up on an unresponsive address after about two minutes. */
const patience: Patience = { until: 'begun', seconds: 150 }

/** Opens a TCP connection inside; resolves when it is established. */
export async function connectPort(
  connection: AgentConnection,
  target: PortTarget,
  options: CallOptions = {},
): Promise<AgentStream> {
  const connected = Promise.withResolvers<void>()
  const { host, port } = target
  const stream = connection.open(
    { op: Op.portConnect, host, port },
    {
      attempt: { verb: 'connect to', subject: `${host ?? '127.0.0.1'}:${port} inside` },
      outputs: ['bytes'],
      onEvent: () => connected.resolve(),
      signal: options.signal,
      patience,
    },
  )
  stream.result.then(
    () => connected.reject(protocolError('a connection that ended before it was established')),
    connected.reject,
  )
  await connected.promise
  return stream
}

/**
 * Listens on the host and forwards every connection to a port inside. `connect` is called for each
 * one, so that a forward outlives the agent connection it began with.
 */
export async function forwardPort(
  connect: () => Promise<AgentConnection>,
  options: ForwardOptions,
): Promise<PortForward> {
  options.signal?.throwIfAborted()
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    // Nothing is lost: reads and writes below fail, too. Without a listener, the error would be thrown.
    socket.on('error', () => {})
    // The client sees that its connection closes.
    carry(socket, connect, options).catch(() => socket.destroy())
  })
  const address = await listen(server, options)
  const close = () => closeServer(server, sockets)
  options.signal?.addEventListener('abort', close, { once: true })
  return { ...address, close, [Symbol.asyncDispose]: close }
}

async function carry(
  socket: Socket,
  connect: () => Promise<AgentConnection>,
  target: PortTarget,
): Promise<void> {
  const stream = await connectPort(await connect(), target)
  socket.once('close', () => stream.cancel())
  await Promise.all([toInside(socket, stream), toOutside(stream, socket)])
}

async function toInside(socket: Socket, stream: AgentStream): Promise<void> {
  // The socket stays open at its end: the other direction may still send something.
  for await (const chunk of socket.iterator({ destroyOnReturn: false })) await stream.send(chunk)
  await stream.endInput()
}

async function toOutside(stream: AgentStream, socket: Socket): Promise<void> {
  for await (const chunk of stream.output()) {
    if (!socket.write(chunk)) await drained(socket)
  }
  socket.end()
}

function drained(socket: Socket): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const onDrain = () => {
    socket.off('close', onClose)
    resolve()
  }
  const onClose = () => {
    socket.off('drain', onDrain)
    reject(new BackendError('the connection was closed', { remedy: 'connect again' }))
  }
  socket.once('drain', onDrain)
  socket.once('close', onClose)
  return promise
}

async function listen(
  server: Server,
  options: ForwardOptions,
): Promise<{ host: string; port: number }> {
  const { listenHost: host = '127.0.0.1', listenPort: port = 0 } = options
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', (error) => {
    reject(hostRefusal({ verb: 'listen on', subject: `${host}:${port}` }, error))
  })
  server.listen({ host, port }, resolve)
  await promise
  const address = server.address()
  if (address === null || typeof address === 'string') {
    throw new BackendError('no TCP address', { remedy: 'choose another address to listen on' })
  }
  return { host: address.address, port: address.port }
}

async function closeServer(server: Server, sockets: ReadonlySet<Socket>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  server.close(() => resolve())
  for (const socket of sockets) socket.destroy()
  await promise
}
