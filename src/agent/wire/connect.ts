import type { Duplex } from 'node:stream'
import { TimeoutError } from '../../model/errors.ts'
import { patience } from '../../model/values/patience.ts'
import { AgentConnection, type CallOptions } from './connection.ts'
import { within } from './deadline.ts'
import type { WatchdogOptions } from './watchdog.ts'

export interface ConnectOptions extends CallOptions, WatchdogOptions {
  /** How long the agent may take to say hello; default 10 s. */
  readonly helloTimeoutMs?: number
}

const HELLO_SECONDS = 10

/** Talks to an agent over `transport`, which it then owns. Resolves when both have said hello. */
export async function openConnection(
  transport: Duplex,
  options: ConnectOptions = {},
): Promise<AgentConnection> {
  const connection = new AgentConnection(transport, options)
  await greeted(connection, options)
  return connection
}

/**
 * Waits for the agent's hello; without one the connection ends. Requests made before that are already
 * sent along with ours.
 */
export async function greeted(
  connection: AgentConnection,
  options: ConnectOptions = {},
): Promise<void> {
  const waited = options.helloTimeoutMs ?? patience(HELLO_SECONDS)
  const late = new TimeoutError(`the agent did not answer within ${waited} ms`, {
    remedy:
      'resume it if it is paused; if a process inside uses up its connections, restore a snapshot',
  })
  try {
    await within(connection.ready, waited, late, options.signal)
  } catch (error) {
    connection.destroy(error instanceof Error ? error : new Error(String(error)))
    throw error
  }
}
