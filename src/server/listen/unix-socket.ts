import { chmodSync, chownSync, lstatSync, mkdirSync, readFileSync, unlinkSync } from 'node:fs'
import { createConnection } from 'node:net'
import { dirname } from 'node:path'
import { ConflictError, InvalidInputError } from '../../model/errors.ts'
import { quote } from '../../model/text/quote.ts'

/** The kernel's limit for the path of a socket. */
const longestPath = 107
const group = 'forkpoint'
/** Whoever may write to the socket may do everything, so nobody but root and the group may. */
const mode = 0o660

/** Makes room for a socket at `path`: its directory, and no socket of a daemon that is gone. */
export async function prepareSocket(path: string): Promise<void> {
  if (Buffer.byteLength(path) > longestPath) {
    throw new InvalidInputError(`the path of the socket is too long: ${quote(path)}`, {
      remedy: `give a path of up to ${longestPath} bytes with --socket`,
    })
  }
  mkdirSync(dirname(path), { recursive: true, mode: 0o755 })
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return
  if (!stat.isSocket()) {
    throw new ConflictError(`${quote(path)} exists and is not a socket`, {
      remedy: 'choose another path with --socket',
    })
  }
  if (await isServed(path)) {
    throw new ConflictError(`a daemon already listens on ${quote(path)}`, {
      remedy: 'end it with `forkpoint serve --stop`, or choose another path with --socket',
    })
  }
  unlinkSync(path)
}

/** Lets the group use the socket, if the machine has it. */
export function shareSocket(path: string): void {
  const gid = groupId(group)
  if (gid !== undefined) chownSync(path, process.getuid?.() ?? 0, gid)
  chmodSync(path, mode)
}

function isServed(path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = createConnection({ path })
  socket.once('connect', () => resolve(true))
  socket.once('error', () => resolve(false))
  return promise.finally(() => socket.destroy())
}

function groupId(name: string): number | undefined {
  const lines = readFileSync('/etc/group', 'utf8').split('\n')
  const gid = lines.map((line) => line.split(':')).find(([each]) => each === name)?.[2]
  return gid === undefined ? undefined : Number(gid)
}
