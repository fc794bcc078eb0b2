import { configure, quiesce, setIdentity } from '../agent/environment.ts'
import { greeted } from '../agent/wire/connect.ts'
import { AgentConnection, type CallOptions } from '../agent/wire/connection.ts'
import type { EnvironmentRecord, Instance } from '../model/environment.ts'
import type { RememberedShell } from '../model/snapshot.ts'
import { capabilitiesOfLife } from './capabilities.ts'
import type { Engine } from './engine.ts'
import { identityOf } from './operations/identity.ts'
import { resumeShells } from './shells/resume-shells.ts'

/** A connection to one life, which works even while a swap keeps shared connections away. */
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

/** The same, but does not wait for the agent's greeting: requests can already be sent. */
export async function beginConnection(
  engine: Engine,
  record: EnvironmentRecord,
  instance: Instance,
): Promise<AgentConnection> {
  const ref = { id: record.id, instance }
  return new AgentConnection(await engine.backend(record.backend).connect(ref))
}

/** Gives a new agent its identity, the settings for its commands, and the shells that it should have. */
export async function introduce(
  engine: Engine,
  record: EnvironmentRecord,
  instance: Instance,
  shells: readonly RememberedShell[] = [],
): Promise<void> {
  await using connection = await connectTo(engine, record, instance)
  await introduceOver(connection, engine, { ...record, instance })
  await resumeShells(connection, shells)
}

export async function introduceOver(
  connection: AgentConnection,
  engine: Engine,
  record: EnvironmentRecord,
): Promise<void> {
  const { hostname, machineId } = identityOf(record)
  const { env, workdir: cwd, image } = record
  const user = image?.user ?? undefined
  // An environment that uses the host's own files must not rename the host, nor one that was attached.
  const capabilities = capabilitiesOfLife(engine.backend(record.backend), record.instance)
  const hasIdentity = capabilities.has('identity')
  await Promise.all([
    hasIdentity && setIdentity(connection, { hostname, machineId }),
    configure(connection, { env, cwd, shell: engine.settings.shell.program, user }),
  ])
}

/** Waits until the agent of a restored life greets us. */
export async function greet(
  engine: Engine,
  record: EnvironmentRecord,
  instance: Instance,
): Promise<void> {
  await using _connection = await connectTo(engine, record, instance)
}

/** Makes the agent close every connection, because CRIU cannot dump one whose other end is outside. */
export async function closeConnections(
  engine: Engine,
  record: EnvironmentRecord,
  instance: Instance,
  options: CallOptions = {},
): Promise<void> {
  await using connection = await connectTo(engine, record, instance, options)
  await quiesce(connection, options)
}
