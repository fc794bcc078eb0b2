import type { Duplex } from 'node:stream'
import { TimeoutError } from '../../model/errors.ts'
import { AgentConnection, type CallOptions } from './connection.ts'
import { within } from './deadline.ts'
import type { WatchdogOptions } from './watchdog.ts'

export interface ConnectOptions extends CallOptions, WatchdogOptions {
  /** How long the agent may take to introduce itself; default 10 s. */
  readonly helloTimeoutMs?: number
}

const DEFAULT_HELLO_TIMEOUT_MS = 10_000

/** Speaks to an agent over `transport`, which it then owns. Resolves when both said hello. */
export async function openConnection(
  transport: Duplex,
  options: ConnectOptions = {},
): Promise<AgentConnection> {
  const connection = new AgentConnection(transport, options)
  await greeted(connection, options)
  return connection
}

/**
 * Waits for the agent's hello; without one the connection is over. What is asked before is on its way
 * with ours already.
 */
export async function greeted(
  connection: AgentConnection,
  options: ConnectOptions = {},
): Promise<void> {
  const waited = options.helloTimeoutMs ?? DEFAULT_HELLO_TIMEOUT_MS
  const late = new TimeoutError(`the agent did not answer within ${waited} ms`, {
    remedy:
      'check that it is not paused; if a process inside holds all of its connections, restore a snapshot, or remove the environment',
  })
  try {
    await within(connection.ready, waited, late, options.signal)
  } catch (error) {
    connection.destroy(error instanceof Error ? error : new Error(String(error)))
    throw error
  }
}
