import { startCommand } from '../../../agent/commands/commands.ts'
import type { EnvironmentRecord, Instance } from '../../../model/environment.ts'
import { connectTo } from '../../agents.ts'
import type { Engine } from '../../engine.ts'

/** What finds the command of an environment again, also in its forks. */
export const firstCommandId = 'command'

/** Starts the program that was asked for with the environment. Rejects if it cannot be executed. */
export async function startCommandOf(
  engine: Engine,
  record: EnvironmentRecord,
  instance: Instance,
): Promise<void> {
  if (record.command === undefined) return
  await using connection = await connectTo(engine, record, instance)
  const handle = startCommand(connection, {
    id: firstCommandId,
    mode: 'process',
    command: record.command,
  })
  // Nobody follows it from here, and it does not wait for a reader.
  handle.wait().catch(() => {})
  await handle.pid
  handle.detach()
}
