import { patience } from '../model/values/patience.ts'
import { envEntries } from './commands/command-spec.ts'
import { agentIsSilent, ConnectionLostError } from './failures.ts'
import { listRecords } from './files/listing.ts'
import type { AgentConnection, CallOptions } from './wire/connection.ts'
import { within } from './wire/deadline.ts'
import { type Fields, need } from './wire/fields.ts'
import { Op } from './wire/wire.ts'

export interface EnvironmentIdentity {
  readonly hostname: string
  /** 32 lower-case hexadecimal digits. */
  readonly machineId: string
}

export interface AgentInfo {
  readonly version: number
  readonly rssBytes: number
  readonly openFds: number
  readonly runningCommands: number
  readonly connections: number
}

export interface EnvironmentDefaults {
  /** The base environment of later commands. */
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** The program of persistent shells and terminals. */
  readonly shell?: string
  /** Who runs what names no user: a name or uid, either with `:group`. Default: the agent's own user. */
  readonly user?: string | undefined
}

export interface ShellInfo {
  readonly shell: string
  readonly pid: number
  readonly busy: boolean
  readonly cwd: string | null
}

const SELF = 'the environment'
/** How long the agent may take to hang up after it has agreed to. */
const HANG_UP_SECONDS = 10

export async function setIdentity(
  connection: AgentConnection,
  identity: EnvironmentIdentity,
  options: CallOptions = {},
): Promise<void> {
  const attempt = { verb: 'set the identity of', subject: SELF }
  await connection.request(attempt, { op: Op.identity, ...identity }, options)
}

export async function readAgentInfo(
  connection: AgentConnection,
  options: CallOptions = {},
): Promise<AgentInfo> {
  const attempt = { verb: 'query', subject: 'the agent' }
  const fields = await connection.request(attempt, { op: Op.info }, options)
  return {
    version: need(fields, 'version'),
    rssBytes: need(fields, 'rssBytes'),
    openFds: need(fields, 'openFds'),
    runningCommands: need(fields, 'commands'),
    connections: need(fields, 'connections'),
  }
}

/** Makes the agent close every connection, this one last; resolves when it has. */
export async function quiesce(
  connection: AgentConnection,
  options: CallOptions = {},
): Promise<void> {
  const attempt = { verb: 'quiesce', subject: SELF }
  try {
    await connection.request(attempt, { op: Op.quiesce }, options)
  } catch (error) {
    // The agent may hang up before its answer arrives.
    if (!(error instanceof ConnectionLostError)) throw error
  }
  const late = agentIsSilent(HANG_UP_SECONDS)
  await within(connection.closed, patience(HANG_UP_SECONDS), late, options.signal).catch(
    (error: Error) => {
      connection.destroy(error)
      throw error
    },
  )
}

/** Sets the defaults of later commands; sent once, after create. */
export async function configure(
  connection: AgentConnection,
  defaults: EnvironmentDefaults,
  options: CallOptions = {},
): Promise<void> {
  const { env, cwd, shell, user } = defaults
  const attempt = { verb: 'configure', subject: SELF }
  const fields: Fields = { op: Op.configure, cwd, shell, user, env: env && envEntries(env) }
  await connection.request(attempt, fields, options)
}

export function listShells(
  connection: AgentConnection,
  options: CallOptions = {},
): Promise<ShellInfo[]> {
  const attempt = { verb: 'list', subject: 'shells' }
  return listRecords(connection, attempt, { op: Op.shellList }, readShell, options)
}

export async function closeShell(
  connection: AgentConnection,
  shell: string,
  options: CallOptions = {},
): Promise<void> {
  await connection.request(
    { verb: 'close shell', subject: shell },
    { op: Op.shellClose, shell },
    options,
  )
}

function readShell(record: Fields): ShellInfo {
  return {
    shell: need(record, 'shell'),
    pid: need(record, 'pid'),
    busy: record.running === 1,
    cwd: record.cwd ?? null,
  }
}
