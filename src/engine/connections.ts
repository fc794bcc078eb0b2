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

export function connections(addressOf: (id: EnvironmentId) => AgentAddress | null): Connections {
  const open = new Map<EnvironmentId, Promise<AgentConnection>>()

  const connect = async (id: EnvironmentId): Promise<AgentConnection> => {
    const address = addressOf(id)
    if (!address) throw new ConflictError(`environment ${id} has no running agent`)
    const connection = await openConnection(await openAgentSocket(address.path, address.identity))
    void connection.closed.then(() => open.delete(id))
    return connection
  }

  const close = async (id: EnvironmentId): Promise<void> => {
    const pending = open.get(id)
    open.delete(id)
    const connection = await pending?.catch(() => null)
    await connection?.close()
  }

  return {
    to: (id) => {
      const known = open.get(id)
      if (known) return known
      const pending = connect(id)
      open.set(id, pending)
      pending.catch(() => open.delete(id))
      return pending
    },
    close,
    closeAll: async () => {
      await Promise.all([...open.keys()].map(close))
    },
  }
}
