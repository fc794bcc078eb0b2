import { setTimeout as sleep } from 'node:timers/promises'
import {
  openAgentSocket,
  readSocketIdentity,
  type SocketIdentity,
} from '../../agent/wire/socket.ts'
import { identify, isAlive, type ProcessIdentity } from '../../linux/process-identity.ts'
import type { Instance } from '../../model/environment.ts'
import { BackendError } from '../../model/errors.ts'
import type { CellNet, Layer } from './cell/cell.ts'
import type { IdRange } from './cell/id-ranges.ts'

/** A live cell, as the store keeps it. */
export interface NativeInstance {
  readonly kind: 'native'
  /** which life of the environment this is */
  readonly slot: number
  /** the agent, as the host sees it */
  readonly process: ProcessIdentity
  readonly socket: SocketIdentity
  /** those of its processes, as the host sees them; absent: it began when all environments had the same */
  readonly ids?: IdRange
  readonly net: CellNet | null
  readonly layers: readonly Layer[]
}

const agentStartMs = 10_000

/** The instance as JSON: identities of sockets are 64-bit. */
export function toRecord(instance: NativeInstance): Instance {
  const { dev, ino, birthtimeNs } = instance.socket
  return {
    kind: 'native',
    slot: instance.slot,
    process: { ...instance.process },
    socket: { dev: String(dev), ino: String(ino), birthtimeNs: String(birthtimeNs) },
    ...(instance.ids && { ids: { ...instance.ids } }),
    net: instance.net && { ...instance.net },
    layers: instance.layers.map((layer) => ({ ...layer })),
  }
}

export function fromRecord(record: Instance): NativeInstance {
  const { slot, process, socket, ids, net, layers } = record as unknown as Omit<
    NativeInstance,
    'socket'
  > & {
    socket: Record<keyof SocketIdentity, string>
  }
  return {
    kind: 'native',
    slot,
    process,
    ...(ids && { ids }),
    net,
    layers,
    socket: {
      dev: BigInt(socket.dev),
      ino: BigInt(socket.ino),
      birthtimeNs: BigInt(socket.birthtimeNs),
    },
  }
}

/** Waits until the agent listens; nothing else runs inside yet, so what is there is the agent's. */
export async function agentListening(
  path: string,
  pid: number,
): Promise<Pick<NativeInstance, 'process' | 'socket'>> {
  const process = identify(pid)
  const deadline = Date.now() + agentStartMs
  for (;;) {
    try {
      const socket = await openAgentSocket(path, null)
      socket.destroy()
      if (process) return { process, socket: await readSocketIdentity(path) }
    } catch (error) {
      if (process && isAlive(process) && Date.now() < deadline) {
        await sleep(1)
        continue
      }
      throw new BackendError('the agent of a new environment did not start', {
        remedy: 'run `forkpoint doctor`, which starts one step by step',
        cause: error,
      })
    }
  }
}
