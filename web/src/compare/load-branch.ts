import type { CommandOutput, CommandState, Output } from 'forkpoint/client'
import type { EnvironmentNode } from '../forest/forest.ts'
import type { Session } from '../session/session.ts'
import { type Metrics, metricsOf } from './metrics.ts'

/** What is compared of one environment. */
export interface Branch {
  readonly node: EnvironmentNode
  readonly metrics: Metrics
  /** null: it has no processes now */
  readonly stats: Output<'environment.stats'> | null
  readonly last: LastCommand | null
}

export interface LastCommand {
  readonly command: CommandState
  readonly output: CommandOutput
}

export async function loadBranch(
  { client, can }: Session,
  node: EnvironmentNode,
  signal: AbortSignal,
): Promise<Branch> {
  const { id } = node
  const isRunning = node.status === 'running'
  const info = await client.call('environment.get', { reference: id }, { signal })
  const [head, stats, last] = await Promise.all([
    info.head && client.call('snapshot.get', { reference: info.head }, { signal }),
    isRunning ? client.call('environment.stats', { id }, { signal }) : null,
    isRunning && can('exec') ? lastCommand(client, id, signal) : null,
  ])
  const said = { labels: info.labels, metadata: head?.metadata, isOwn: head?.environmentId === id }
  return { node, metrics: metricsOf(said), stats, last }
}

async function lastCommand(
  client: Session['client'],
  id: string,
  signal: AbortSignal,
): Promise<LastCommand | null> {
  const command = (await client.commands(id, { signal, last: true })).at(-1)
  if (command === undefined) return null
  return { command, output: await client.output(id, command.id, { signal }) }
}
