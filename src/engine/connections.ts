import { setTimeout as sleep } from 'node:timers/promises'
import { ConnectionLostError } from '../agent/failures.ts'
import { openConnection } from '../agent/wire/connect.ts'
import type { AgentConnection } from '../agent/wire/connection.ts'
import { openAgentSocket } from '../agent/wire/socket.ts'
import type { AgentAddress } from '../backends/backend.ts'
import { ConflictError } from '../model/errors.ts'
import type { EnvironmentId } from '../model/ids.ts'

/** One connection per environment, opened when it is needed and again when it was lost. */
export interface Connections {
  to(id: EnvironmentId): Promise<AgentConnection>
  close(id: EnvironmentId): Promise<void>
  closeAll(): Promise<void>
}

/** Several exchanges in a row are met; an agent that always hangs up is given up. */
const mostTries = 20
const pauseMs = 10
const longestMs = 30_000

export interface AgentLookup {
  addressOf(id: EnvironmentId): Promise<AgentAddress | null>
  isPaused(id: EnvironmentId): boolean
}

export function connections({ addressOf, isPaused }: AgentLookup): Connections {
  const open = new Map<EnvironmentId, Promise<AgentConnection>>()
  const live = new Map<EnvironmentId, AgentConnection>()

  /** An agent that is about to be exchanged hangs up; its successor is found by asking again. */
  const connect = async (id: EnvironmentId): Promise<AgentConnection> => {
    const deadline = performance.now() + longestMs
    for (let tries = 1; ; tries += 1) {
      const address = await addressOf(id)
      if (!address) throw new ConflictError(`environment ${id} has no running agent`)
      try {
        const socket = await openAgentSocket(address.path, address.identity)
        return await openConnection(socket, { isSuspended: () => isPaused(id) })
      } catch (error) {
        const isExchanged = (await addressOf(id))?.path !== address.path
        const mayPass = isExchanged || error instanceof ConnectionLostError
        if (!mayPass || tries === mostTries || performance.now() > deadline) throw error
        await sleep(pauseMs)
      }
    }
  }

  /** Another one may have taken its place by the time it is found to be over. */
  const drop = (id: EnvironmentId, over: Promise<AgentConnection>): void => {
    if (open.get(id) !== over) return
    open.delete(id)
    live.delete(id)
  }

  /** One that is still being made waits for what its environment is going through; leave it. */
  const close = async (id: EnvironmentId): Promise<void> => {
    await live.get(id)?.close()
  }

  return {
    to: (id) => {
      const known = open.get(id)
      if (known) return known
      const pending = connect(id)
      open.set(id, pending)
      pending.then(
        (connection) => {
          live.set(id, connection)
          return connection.closed.then(() => drop(id, pending))
        },
        () => drop(id, pending),
      )
      return pending
    },
    close,
    closeAll: async () => {
      await Promise.all([...live.keys()].map(close))
    },
  }
}
