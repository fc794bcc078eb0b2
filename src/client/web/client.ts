import type { Input, OperationName, Output } from '../../api/contract/contract.ts'
import type { ForkpointEvent } from '../../api/contract/data/store.ts'
import type { NewToken, PrincipalInfo } from '../../api/contract/data/token.ts'
import type { CallOptions, EventOptions } from '../../api/control.ts'
import { InvalidInputError } from '../../model/errors.ts'
import { quote } from '../../model/text/quote.ts'
import { formatAddress, parseAddress } from '../address.ts'
import { perform } from '../link/perform.ts'
import type { Link } from '../link/send-operation.ts'
import {
  type CommandOutput,
  type CommandState,
  commandOutput,
  type ListCommandsOptions,
  listCommands,
  listProcesses,
  type ProcessState,
} from './commands.ts'
import { followEvents } from './events.ts'
import {
  type CommandPart,
  type CommandWords,
  exec,
  execStream,
  type WebExecOptions,
  type WebExecResult,
} from './exec.ts'
import { fetcher } from './fetcher.ts'
import {
  type FileEntry,
  listFiles,
  type ReadFileOptions,
  readFile,
  type WriteFileOptions,
  writeFile,
} from './files.ts'
import type { Abortable } from './inside.ts'
import { logIn, logOut, principal } from './login.ts'
import { newKey } from './new-key.ts'
import {
  closeTerminal,
  linkPort,
  listPorts,
  listTerminals,
  type PortLink,
  type TerminalState,
} from './terminals.ts'

export type { Input, OperationName, Output } from '../../api/contract/contract.ts'
export type { ForkpointEvent } from '../../api/contract/data/store.ts'
export type { NewToken, PrincipalInfo } from '../../api/contract/data/token.ts'
export {
  BackendError,
  ConflictError,
  ConnectionError,
  ForkpointError,
  InvalidInputError,
  NotFoundError,
  PermissionError,
  PrerequisiteError,
  ResourceError,
  TimeoutError,
  UnsupportedError,
} from '../../model/errors.ts'
export type { CommandOutput, CommandState, ProcessState } from './commands.ts'
export type { CommandEnd, CommandPart, WebExecOptions, WebExecResult } from './exec.ts'
export type { FileEntry, ReadFileOptions, WriteFileOptions } from './files.ts'
export type { Abortable } from './inside.ts'
export type { PortLink, TerminalState } from './terminals.ts'

export interface ClientOptions {
  readonly token?: string
  /** what sends requests, for those who want to watch them; absent: the global `fetch` */
  readonly fetch?: typeof fetch
}

/** A daemon, from a browser or an edge runtime. Environments are named by id, shortened id or name. */
export interface Client {
  /**
   * Runs an operation of the contract, once, even if it has to be sent again.
   *
   * @example
   * const env = await client.call('environment.create', { name: 'web', from: { host: true } })
   * const [fork] = await client.call('environment.fork', { id: env.id, count: 1 })
   */
  call<N extends OperationName>(
    name: N,
    input: Input<N>,
    options?: Pick<CallOptions, 'signal' | 'idempotencyKey'>,
  ): Promise<Output<N>>
  /**
   * Runs a command to its end.
   *
   * @example
   * const { exitCode, stdout } = await client.exec('web', 'make test')
   */
  exec(id: string, command: CommandWords, options?: WebExecOptions): Promise<WebExecResult>
  /**
   * Runs a command and reports its output as it comes, then how it ended.
   *
   * @example
   * for await (const part of client.stream('web', 'make test')) {
   *   if (part.type === 'stdout') show(part.data)
   * }
   */
  stream(
    id: string,
    command: CommandWords,
    options?: Omit<WebExecOptions, 'stdin'>,
  ): AsyncGenerator<CommandPart, void, undefined>
  /** The content of a file inside. */
  readFile(id: string, path: string, options?: ReadFileOptions): Promise<Uint8Array<ArrayBuffer>>
  /** Replaces a file inside, all of it or nothing. */
  writeFile(
    id: string,
    path: string,
    data: string | Uint8Array<ArrayBuffer>,
    options?: WriteFileOptions,
  ): Promise<void>
  /** The entries of a directory inside. */
  listFiles(id: string, path: string, options?: Abortable): Promise<readonly FileEntry[]>
  /** The commands that run inside or were left to themselves, oldest first. */
  commands(id: string, options?: ListCommandsOptions): Promise<readonly CommandState[]>
  /** What a command has printed so far, as far as it is kept. */
  output(id: string, command: string, options?: Abortable): Promise<CommandOutput>
  /** Every process inside. */
  processes(id: string, options?: Abortable): Promise<readonly ProcessState[]>
  /** The terminals inside that were started. */
  terminals(id: string, options?: Abortable): Promise<readonly TerminalState[]>
  /** Hangs up, which ends the programs that run on it. */
  closeTerminal(id: string, name: string): Promise<void>
  /** The ports inside on which something listens. */
  ports(id: string, options?: Abortable): Promise<readonly number[]>
  /** An address for a browser that opens one port inside, and nothing else. */
  portLink(id: string, port: number, options?: Abortable): Promise<PortLink>
  /** What the token may do. */
  principal(options?: Abortable): Promise<PrincipalInfo>
  /** Removes the token itself, which is refused from now on. */
  logOut(): Promise<void>
  /** What happens from now on, or after an event, until the signal aborts or the client is closed. */
  events(
    options?: Pick<EventOptions, 'signal' | 'after'>,
  ): AsyncGenerator<ForkpointEvent, void, undefined>
  /** Ends the requests and streams that are under way. */
  close(): void
}

/**
 * A client that needs only `fetch`.
 *
 * @example
 * import { connect } from 'forkpoint/client'
 * const client = connect('https://build-1:7070', { token })
 */
export function connect(url: string | URL, options: ClientOptions = {}): Client {
  const closing = new AbortController()
  const far = fetcher(webAddress(String(url)), { ...options, closed: closing.signal })
  const link: Link = {
    where: far.where,
    json: (sent) =>
      far.send(sent, async (answer) => (answer.status === 204 ? null : await answer.json())),
    newKey,
  }
  return {
    call: (name, input, options) => perform(link, name, input, options),
    exec: (id, command, options = {}) => exec(far, id, command, options),
    stream: (id, command, options = {}) => execStream(far, id, command, options),
    readFile: (id, path, options = {}) => readFile(far, id, path, options),
    writeFile: (id, path, data, options = {}) => writeFile(far, id, path, data, options),
    listFiles: (id, path, options = {}) => listFiles(far, id, path, options),
    commands: (id, options = {}) => listCommands(far, id, options),
    output: (id, command, options = {}) => commandOutput(far, id, command, options),
    processes: (id, options = {}) => listProcesses(far, id, options),
    terminals: (id, options = {}) => listTerminals(far, id, options),
    closeTerminal: (id, name) => closeTerminal(far, id, name),
    ports: (id, options = {}) => listPorts(far, id, options),
    portLink: (id, port, options = {}) => linkPort(far, id, port, options),
    principal: (options = {}) => principal(far, options),
    logOut: () => logOut(far),
    events: (options = {}) => followEvents(far, options),
    close: () => closing.abort(),
  }
}

/**
 * Exchanges the code of a link of `forkpoint dashboard` for a token, once.
 *
 * @example
 * const { token } = await login(location.origin, code)
 */
export function login(url: string | URL, code: string): Promise<NewToken> {
  const closed = new AbortController().signal
  return logIn(fetcher(webAddress(String(url)), { closed }), code)
}

function webAddress(url: string): string {
  const address = parseAddress(url)
  if (address.kind === 'tcp') return formatAddress(address)
  throw new InvalidInputError(`not an address for fetch: ${quote(url)}`, {
    remedy: 'give http://host:port or https://host:port, and listen there with --listen',
  })
}
