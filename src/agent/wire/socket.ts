import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import { createConnection, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { BackendError } from '../../model/errors.ts'

/** What distinguishes a socket from any other at the same path. */
export interface SocketIdentity {
  readonly dev: bigint
  readonly ino: bigint
  readonly birthtimeNs: bigint
}

/** Opens a reference to the file itself, without reading it. Node has no name for this flag. */
const O_PATH = 0o10000000

/** How long to wait for a place in the agent's queue, which code inside may be flooding. */
const QUEUE_MS = 10_000
const QUEUE_PAUSE_MS = 2

/** The identity of the socket at `path`, to be recorded before any other code runs inside. */
export async function readSocketIdentity(path: string): Promise<SocketIdentity> {
  using pinned = pin(path)
  return pinned.identity
}

/**
 * Connects to the agent's socket. The last component of `path` belongs to the environment, so it is
 * pinned first and checked: a symlink, a file or another socket planted there is refused. With
 * `expected` null any socket is accepted, which is right only before the environment runs.
 */
export async function openAgentSocket(
  path: string,
  expected: SocketIdentity | null,
): Promise<Socket> {
  using pinned = pin(path)
  if (expected !== null && !isSame(pinned.identity, expected)) {
    throw refusal(path, 'it is not the socket that the agent bound')
  }
  const deadline = performance.now() + QUEUE_MS
  for (;;) {
    try {
      return await connect(`/proc/self/fd/${pinned.fd}`)
    } catch (cause) {
      const isFull = (cause as NodeJS.ErrnoException).code === 'EAGAIN'
      if (!isFull) throw unreachable(path, cause)
      if (performance.now() > deadline) throw flooded(path, cause)
    }
    await sleep(QUEUE_PAUSE_MS)
  }
}

interface Pinned extends Disposable {
  readonly fd: number
  readonly identity: SocketIdentity
}

/** Synchronous, because the thread pool costs more than the calls (measured: 0.3 ms). */
function pin(path: string): Pinned {
  let fd: number
  try {
    fd = openSync(path, O_PATH | constants.O_NOFOLLOW)
  } catch (cause) {
    throw unreachable(path, cause)
  }
  const close = () => closeSync(fd)
  try {
    return { fd, identity: identityOf(fd, path), [Symbol.dispose]: close }
  } catch (error) {
    close()
    throw error
  }
}

function identityOf(fd: number, path: string): SocketIdentity {
  const stat = fstatSync(fd, { bigint: true })
  if (stat.isSymbolicLink()) throw refusal(path, 'it is a symlink')
  if (!stat.isSocket()) throw refusal(path, 'it is not a socket')
  return { dev: stat.dev, ino: stat.ino, birthtimeNs: stat.birthtimeNs }
}

function isSame(a: SocketIdentity, b: SocketIdentity): boolean {
  return a.dev === b.dev && a.ino === b.ino && a.birthtimeNs === b.birthtimeNs
}

function connect(pinned: string): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>()
  const socket = createConnection({ path: pinned })
  socket.once('error', reject)
  socket.once('connect', () => {
    socket.removeAllListeners('error')
    resolve(socket)
  })
  return promise
}

function refusal(path: string, why: string): BackendError {
  return new BackendError(`refusing to talk to ${path}: ${why}`, {
    remedy: 'the environment may have been tampered with; restore it from a snapshot',
  })
}

function flooded(path: string, cause: unknown): BackendError {
  return new BackendError(`cannot reach the agent at ${path}: its queue of connections is full`, {
    cause,
    remedy:
      'a process inside keeps connecting to it: restore a snapshot, or remove the environment',
  })
}

function unreachable(path: string, cause: unknown): BackendError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new BackendError(`cannot reach the agent at ${path}: ${why}`, {
    cause,
    remedy: 'check with `forkpoint ls` that the environment is running',
  })
}
