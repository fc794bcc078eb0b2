import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Control } from '../api/control.ts'
import { ForkpointHandle } from '../api/handles/forkpoint.ts'
import { checked, type Given, options as optionsOf } from '../api/inputs/checked.ts'
import { path, text } from '../api/inputs/values.ts'
import { type Address, parseAddress } from './address.ts'
import { httpControl } from './http-control.ts'

const longestToken = 1024
const longestPem = 1024 * 1024

const connectInput = optionsOf({
  /** who you are; not needed on a Unix socket */
  token: text(longestToken),
  /** certificates to trust in addition to the system's, as PEM */
  ca: text(longestPem),
})

export type ConnectOptions = Given<typeof connectInput>

/** Where a daemon is: `unix:///path`, `http://…`, `https://…`, or the path of its socket. */
export type ConnectTarget = string | URL | { readonly socket: string }

export interface Connected {
  readonly control: Control
  /** where this user's applies record what they do */
  readonly stateDir: string
}

export async function connectTo(
  target: ConnectTarget,
  given: ConnectOptions = {},
): Promise<Connected> {
  const options = checked('connect', connectInput, given)
  return { control: await httpControl(addressOf(target), options), stateDir: callerState() }
}

/** Handles over a daemon, without an engine in this process. */
export async function connect(
  target: ConnectTarget,
  options: ConnectOptions,
): Promise<ForkpointHandle> {
  const { control, stateDir } = await connectTo(target, options)
  return new ForkpointHandle(control, { stateDir })
}

function addressOf(target: ConnectTarget): Address {
  if (typeof target === 'string' || target instanceof URL) return parseAddress(String(target))
  return { kind: 'unix', path: checked('connect', path, target?.socket) }
}

/** Not in the home of the daemon, which may be on another machine. */
function callerState(): string {
  const base = process.env.XDG_STATE_HOME || join(homedir(), '.local', 'state')
  return join(base, 'forkpoint', 'applies')
}
