import { configure, quiesce, setIdentity } from '../agent/environment.ts'
import { greeted } from '../agent/wire/connect.ts'
import { AgentConnection, type CallOptions } from '../agent/wire/connection.ts'
import { openAgentSocket } from '../agent/wire/socket.ts'
import type { EnvironmentRecord, Instance } from '../model/environment.ts'
import type { Engine } from './engine.ts'
import { identityOf } from './operations/identity.ts'

/** A connection to one instance, also while a swap keeps the shared ones away. */
export async function connectTo(
  engine: Engine,
  record: EnvironmentRecord,
  instance: Instance,
  options: CallOptions = {},
): Promise<AgentConnection> {
  const connection = await beginConnection(engine, record, instance)
  await greeted(connection, options)
  return connection
}

/** The same before the agent has said hello, which whoever asks it something at once waits for. */
export async function beginConnection(
  engine: Engine,
  record: EnvironmentRecord,
  instance: Instance,
): Promise<AgentConnection> {
  const { path, identity } = engine.backend(record.backend).address(record.id, instance)
  return new AgentConnection(await openAgentSocket(path, identity))
}

/** Tells a new agent who it is and what its commands start with. */
export async function introduce(
  engine: Engine,
  record: EnvironmentRecord,
  instance: Instance,
): Promise<void> {
  await using connection = await connectTo(engine, record, instance)
  await introduceOver(connection, engine, record)
}

export async function introduceOver(
  connection: AgentConnection,
  engine: Engine,
  record: EnvironmentRecord,
): Promise<void> {
  const { hostname, machineId } = identityOf(record)
  const { env, workdir: cwd } = record
  await Promise.all([
    setIdentity(connection, { hostname, machineId }),
    configure(connection, { env, cwd, shell: engine.settings.shell.program }),
  ])
}

/** Waits until the agent of a restored instance answers: it says hello when it runs. */
export async function greet(
  engine: Engine,
  record: EnvironmentRecord,
  instance: Instance,
): Promise<void> {
  await using _connection = await connectTo(engine, record, instance)
}

/** Makes the agent close every connection: one that stays open is the host's, and cannot be dumped. */
export async function closeConnections(
  engine: Engine,
  record: EnvironmentRecord,
  instance: Instance,
  options: CallOptions = {},
): Promise<void> {
  await engine.connections.close(record.id)
  await using connection = await connectTo(engine, record, instance, options)
  await quiesce(connection, options)
}
