import { setTimeout as sleep } from 'node:timers/promises'
import { ConnectionLostError, connectionLost } from '../../agent/failures.ts'
import { openConnection } from '../../agent/wire/connect.ts'
import type { AgentConnection } from '../../agent/wire/connection.ts'
import type { EnvironmentId } from '../../model/ids.ts'
import { patience } from '../../model/values/patience.ts'
import type { EnvironmentInfo } from '../contract/data/environment.ts'
import type { Control } from '../control.ts'

/** A life of an environment, as its info names it. */
type Life = Pick<EnvironmentInfo, 'id' | 'life'>

/**
 * One connection per environment. It opens when it is needed, and again if it was lost or leads to a
 * life that has ended.
 */
export interface Connections {
  to(life: Life): Promise<AgentConnection>
  closeAll(): Promise<void>
}

/** Enough for several snapshots in a row, but not forever if the agent always hangs up. */
const mostTries = 20
const pauseMs = 10
const longestSeconds = 30

export function connections(control: Control): Connections {
  const open = new Map<EnvironmentId, Opened>()
  const live = new Map<EnvironmentId, AgentConnection>()

  /** Does nothing if another connection has already taken its place. */
  const drop = (id: EnvironmentId, over: Opened): void => {
    if (open.get(id) !== over) return
    open.delete(id)
    live.delete(id)
  }

  return {
    to: ({ id, life }) => {
      const known = open.get(id)
      if (known?.life === life) return known.connection
      // After a restore, the old life still runs for a moment, but nobody may talk to it.
      known?.connection.then((old) => old.destroy(connectionLost()), ignore)
      const opened: Opened = { life, connection: connect(control, id) }
      open.set(id, opened)
      opened.connection.then(
        (connection) => {
          if (open.get(id) === opened) live.set(id, connection)
          return connection.closed.then(() => drop(id, opened))
        },
        () => drop(id, opened),
      )
      return opened.connection
    },
    // A connection that is still being made waits for its environment; it is left alone.
    closeAll: async () => {
      await Promise.all([...live.values()].map((connection) => connection.close()))
    },
  }
}

interface Opened extends Pick<Life, 'life'> {
  readonly connection: Promise<AgentConnection>
}

/** Whoever asked for the connection gets its failure. */
const ignore = () => {}

/** An agent that a snapshot is about to replace hangs up; the next try finds its successor. */
async function connect(control: Control, id: EnvironmentId): Promise<AgentConnection> {
  const deadline = performance.now() + patience(longestSeconds)
  const isSuspended = () => isPaused(control, id)
  for (let tries = 1; ; tries += 1) {
    const transport = await control.connect(id)
    try {
      return await openConnection(transport, { isSuspended })
    } catch (error) {
      const mayPass = error instanceof ConnectionLostError
      if (!mayPass || tries === mostTries || performance.now() > deadline) throw error
      await sleep(pauseMs)
    }
  }
}

async function isPaused(control: Control, id: EnvironmentId): Promise<boolean> {
  try {
    return (await control.call('environment.get', { reference: id })).status === 'paused'
  } catch {
    // Whoever waits for the agent gets a timeout, which explains more.
    return false
  }
}
