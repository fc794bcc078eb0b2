import { openConnection } from '../agent/connect.ts'
import type { AgentConnection } from '../agent/connection.ts'
import { openAgentSocket } from '../agent/socket.ts'
import type { AgentAddress } from '../backends/backend.ts'
import { ConflictError } from '../model/errors.ts'
import type { EnvironmentId } from '../model/ids.ts'

/** One connection per environment, opened when it is needed and again when it was lost. */
export interface Connections {
  to(id: EnvironmentId): Promise<AgentConnection>
  close(id: EnvironmentId): Promise<void>
  closeAll(): Promise<void>
}

export function connections(
  addressOf: (id: EnvironmentId) => Promise<AgentAddress | null>,
): Connections {
  const open = new Map<EnvironmentId, Promise<AgentConnection>>()
  const live = new Map<EnvironmentId, AgentConnection>()

  const connect = async (id: EnvironmentId): Promise<AgentConnection> => {
    const address = await addressOf(id)
    if (!address) throw new ConflictError(`environment ${id} has no running agent`)
    const connection = await openConnection(await openAgentSocket(address.path, address.identity))
    return connection
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
