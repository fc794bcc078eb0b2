// Which commands have ended inside. The agent knows the last of them, but it ends with a life, and a restored one knows
// those of its snapshot. So they are noted in the store whenever a life may end, and whenever somebody asks.
import { listEndedCommands } from '../../agent/commands/ended-commands.ts'
import type { EndedCommand } from '../../model/ended-command.ts'
import type { EnvironmentRecord } from '../../model/environment.ts'
import type { EnvironmentId } from '../../model/ids.ts'
import { patience } from '../../model/values/patience.ts'
import { connectTo } from '../agents.ts'
import type { Engine } from '../engine.ts'

/** The agent, which belongs to whoever is inside, may name any number. */
const mostNoted = 1000

/** Nobody waits longer for an agent that does not answer; what it knows is lost then. */
const longestSeconds = 1

/** The last commands that ended in an environment, oldest first, whether or not it still exists. */
export async function commandLog(
  engine: Engine,
  id: EnvironmentId,
): Promise<readonly EndedCommand[]> {
  const record = engine.store.environments.get(id)
  if (record !== undefined) await noteCommands(engine, record)
  return engine.store.endedCommands.list(id)
}

/** When the present life of an environment began. What ended before was in another one, or was noted already. */
export function lifeBegan({ store }: Engine, { id, createdAt }: EnvironmentRecord): number {
  return store.journal.lastBegun(id) ?? createdAt
}

/** Keeps what the agent of a life knows that began at `since`. Never fails: it is not worth an operation. */
export async function noteCommands(
  engine: Engine,
  record: EnvironmentRecord,
  since = lifeBegan(engine, record),
): Promise<void> {
  const { id, status, instance } = record
  // A paused agent does not answer; its commands were noted before it was paused.
  if (status !== 'running' || instance === null) return
  const signal = AbortSignal.timeout(patience(longestSeconds))
  try {
    await using connection = await connectTo(engine, record, instance, { signal })
    const commands = await listEndedCommands(connection, { signal })
    const own = commands.filter(({ endedAt }) => endedAt >= since)
    engine.store.endedCommands.add(id, own.slice(-mostNoted))
  } catch (err) {
    engine.log.warn({ id, err }, 'what ran last is not in the log')
  }
}
