import { setTimeout as sleep } from 'node:timers/promises'
import { ConflictError, NotFoundError, ResourceError } from '../../model/errors.ts'
import { ConnectionLostError } from '../failures.ts'
import { ByteCollector } from '../wire/byte-collector.ts'
import type { AgentConnection, CallOptions } from '../wire/connection.ts'
import { type CommandSpec, newCommandId } from './command-spec.ts'
import {
  attachCommand,
  type CommandHandle,
  type CommandInfo,
  type CommandOutput,
  type CommandResult,
  forgetCommand,
  type Remembering,
  startCommand,
} from './commands.ts'
import { ExecLimit } from './exec-limit.ts'
import { reportWait } from './turn.ts'

export type ExecInput = Buffer | string | AsyncIterable<Buffer | string>
type OutputListener = (chunk: Buffer) => void | Promise<void>

type WithInput<Spec> = Spec extends CommandSpec
  ? Omit<Spec, 'stdin'> & { readonly stdin?: ExecInput | undefined }
  : never
export type ExecSpec = WithInput<CommandSpec>

export interface ExecOptions extends CallOptions, Remembering {
  /** Called with each chunk in order; the command waits for the promise it returns. */
  readonly onStdout?: OutputListener | undefined
  readonly onStderr?: OutputListener | undefined
  /** Called with the command that it waits for, if it waits for its turn for more than a second. */
  readonly onWait?: ((ahead: CommandInfo) => void) | undefined
  /**
   * How long an abort waits for the command to end. After that it is left to the agent, which kills it after
   * its grace, and `onLeft` gets its id. Default: until the command was killed.
   */
  readonly abortWaitMs?: number | undefined
  readonly onLeft?: ((id: string) => void) | undefined
  /** Which streams to keep for the result; default: those without a listener. */
  readonly collect?: 'unheard' | 'all'
  /** How much of each stream to keep at most; default 64 MiB. */
  readonly maxBytes?: number
  /** Reconnects when the connection breaks, as it does when a snapshot is taken. */
  readonly reconnect?: () => Promise<AgentConnection>
}

export interface ExecResult extends CommandResult {
  readonly stdout: Buffer
  readonly stderr: Buffer
}

const DEFAULT_MAX_BYTES = 64 * 1024 * 1024
const DEFAULT_GRACE_MS = 2000
/** Connections lost in a row without new output, after which the host gives up on the agent. */
const MAX_LOSSES = 50
const LOSS_PAUSE_MS = 20

/** Runs a command to its end. An abort, or output past `maxBytes`, ends the command too. */
export async function execCommand(
  connection: AgentConnection,
  spec: ExecSpec,
  options: ExecOptions = {},
): Promise<ExecResult> {
  options.signal?.throwIfAborted()
  const run = await begun(connection, spec, options)
  return await run.toEnd()
}

/** A connection may have ended since it was made. Nothing was sent over it then, so the next one will do. */
async function begun(
  first: AgentConnection,
  spec: ExecSpec,
  options: ExecOptions,
): Promise<ExecRun> {
  let connection = first
  for (let losses = 1; ; losses += 1) {
    try {
      return new ExecRun(connection, spec, options)
    } catch (error) {
      const mayPass = error instanceof ConnectionLostError && losses <= MAX_LOSSES
      if (!mayPass || options.reconnect === undefined) throw error
      connection = await options.reconnect()
    }
  }
}

/** One command from start to end, over as many connections as it takes. */
class ExecRun {
  readonly #id: string
  readonly #spec: ExecSpec
  readonly #options: ExecOptions
  readonly #stdout: Sink
  readonly #stderr: Sink
  readonly #limit: ExecLimit | null
  #connection: AgentConnection
  #command: CommandHandle
  #losses = 0
  #hasStarted = false
  #inputIsSent: boolean
  #isStopped = false

  constructor(connection: AgentConnection, spec: ExecSpec, options: ExecOptions) {
    this.#id = spec.id ?? newCommandId()
    this.#spec = spec
    this.#options = options
    this.#stdout = new Sink('stdout', options.onStdout, options)
    this.#stderr = new Sink('stderr', options.onStderr, options)
    this.#connection = connection
    this.#limit = limitOf(spec, connection)
    this.#inputIsSent = spec.stdin === undefined
    this.#command = this.#start()
    const { onWait } = options
    const { pid: begun } = this.#command
    const connect = async () => this.#connection
    if (onWait !== undefined) reportWait({ spec, begun, connect, onWait })
  }

  async toEnd(): Promise<ExecResult> {
    const aborted = Promise.withResolvers<'aborted'>()
    const onAbort = () => aborted.resolve('aborted')
    this.#options.signal?.addEventListener('abort', onAbort, { once: true })
    if (this.#options.signal?.aborted) onAbort()
    const followed = this.#follow()
    try {
      const result = await Promise.race([followed, aborted.promise])
      if (result === 'aborted') {
        await this.#stop(followed)
        throw this.#options.signal?.reason
      }
      this.#forget()
      return { ...result, stdout: this.#stdout.collected(), stderr: this.#stderr.collected() }
    } catch (error) {
      if (!(error instanceof ConnectionLostError) && !this.#isStopped) await this.#discard()
      throw error
    } finally {
      this.#options.signal?.removeEventListener('abort', onAbort)
    }
  }

  async #follow(): Promise<CommandResult> {
    for (;;) {
      using _limit = this.#watchLimit()
      const parts = this.#followOnce(this.#command)
      try {
        const [result] = await Promise.all(parts)
        return result
      } catch (error) {
        if (!(error instanceof ConnectionLostError) || !this.#inputIsSent) throw error
        if (this.#options.reconnect === undefined) throw error
        // Output that has arrived is still being read, and counts.
        await Promise.allSettled(parts)
        if (this.#command.receivedBytes > 0) this.#losses = 0
        await this.#noteLoss(error)
        await this.#reattach(this.#options.reconnect)
        // The caller gave up while there was no connection through which to end the command.
        if (this.#options.signal?.aborted) this.#askToEnd()
      }
    }
  }

  /** A connection made just before a snapshot is lost immediately; the next one may last. */
  async #reattach(reconnect: () => Promise<AgentConnection>): Promise<void> {
    for (;;) {
      this.#connection = await reconnect()
      try {
        this.#command = await this.#attachOrStart()
        return
      } catch (error) {
        if (!(error instanceof ConnectionLostError)) throw error
        await this.#noteLoss(error)
      }
    }
  }

  async #noteLoss(error: ConnectionLostError): Promise<void> {
    this.#losses += 1
    if (this.#losses > MAX_LOSSES) throw error
    if (this.#losses > 1) await sleep(LOSS_PAUSE_MS)
  }

  #watchLimit(): Disposable | null {
    const connection = this.#connection
    return (
      this.#limit?.watch(
        this.#command,
        () => this.#hasStarted,
        () => connection.isSuspended(),
      ) ?? null
    )
  }

  #followOnce(command: CommandHandle) {
    const noteStart = () => {
      this.#hasStarted = true
    }
    // A failure here also fails `wait`.
    command.pid.then(noteStart, () => {})
    const ended = command.wait()
    return [
      ended,
      this.#stdout.drain(command.stdout),
      this.#stderr.drain(command.stderr),
      // An idle stdin, such as a pipe in CI, must not outlive the command.
      Promise.race([this.#feed(command), ended]),
    ] as const
  }

  #start(): CommandHandle {
    const stdin = this.#spec.stdin === undefined ? 'none' : 'streamed'
    return startCommand(this.#connection, { ...this.#spec, id: this.#id, stdin })
  }

  async #attachOrStart(): Promise<CommandHandle> {
    try {
      return await attachCommand(this.#connection, this.#id, this.#command.offsets)
    } catch (error) {
      // The connection broke before the agent read the request.
      const wasNeverStarted = error instanceof NotFoundError && !this.#hasStarted
      if (wasNeverStarted && this.#spec.stdin === undefined) return this.#start()
      throw error
    }
  }

  async #feed(command: CommandHandle): Promise<void> {
    const { stdin } = this.#spec
    if (stdin === undefined || this.#inputIsSent) return
    try {
      if (typeof stdin === 'string' || Buffer.isBuffer(stdin)) await command.writeStdin(stdin)
      else for await (const chunk of stdin) await command.writeStdin(chunk)
      await command.endStdin()
      this.#inputIsSent = true
    } catch (error) {
      // A command may end without reading all of its input; its result says how it ended.
      if (!(error instanceof ConflictError)) throw error
    }
  }

  /** Nothing is lost if this fails: the agent drops old records by itself. */
  #forget(): void {
    const { isRemembered } = this.#options
    forgetCommand(this.#connection, this.#id, { isRemembered }).catch(() => {})
  }

  /** Nobody wants its output any more: ends it, and lets it print. */
  async #discard(): Promise<void> {
    this.#command.stdout.discard()
    this.#command.stderr.discard()
    await this.#stop(this.#command.wait())
  }

  /** Ends the command as its terminal would: asks first, then kills. Its last output still arrives. */
  async #stop(followed: Promise<unknown>): Promise<void> {
    this.#isStopped = true
    const ended = followed.then(
      () => true,
      () => true,
    )
    const { abortWaitMs, onLeft } = this.#options
    this.#askToEnd()
    if (await isTrueWithin(abortWaitMs ?? this.#graceMs, ended)) return this.#forget()
    if (abortWaitMs === undefined) {
      this.#signal('SIGKILL')
      if (await isTrueWithin(this.#graceMs, ended)) return this.#forget()
    }
    onLeft?.(this.#id)
    this.#command.detach()
  }

  /** The agent kills it after the grace, even if nobody is connected then. */
  #askToEnd(): void {
    this.#signal(this.#spec.mode === 'process' ? 'SIGTERM' : 'SIGINT', this.#graceMs)
  }

  /** If it cannot be sent, the wait for the end runs out and the next step follows. */
  #signal(signal: NodeJS.Signals, graceMs?: number): void {
    this.#command.signal(signal, { graceMs }).catch(() => {})
  }

  get #graceMs(): number {
    return this.#spec.graceMs ?? DEFAULT_GRACE_MS
  }
}

/** False if the time is over first. Nothing is left behind that would keep a process alive. */
async function isTrueWithin(ms: number, answer: Promise<boolean>): Promise<boolean> {
  const timer = new AbortController()
  const late = sleep(ms, false, { signal: timer.signal }).catch(() => false)
  try {
    return await Promise.race([answer, late])
  } finally {
    timer.abort()
  }
}

function limitOf(spec: ExecSpec, { secondMs }: AgentConnection): ExecLimit | null {
  const { timeoutMs, graceMs = DEFAULT_GRACE_MS } = spec
  if (timeoutMs === undefined || timeoutMs <= 0) return null
  return new ExecLimit({ timeoutMs, graceMs, secondMs })
}

/** Where one stream's output goes: to the listener, to memory, or both. */
class Sink {
  readonly #name: string
  readonly #listener: OutputListener | undefined
  readonly #maxBytes: number
  readonly #keeps: boolean
  readonly #kept = new ByteCollector()

  constructor(name: string, listener: OutputListener | undefined, options: ExecOptions) {
    this.#name = name
    this.#listener = listener
    this.#maxBytes = options.maxBytes ?? DEFAULT_MAX_BYTES
    this.#keeps = listener === undefined || options.collect === 'all'
  }

  async drain(output: CommandOutput): Promise<void> {
    for await (const chunk of output) {
      if (this.#keeps) this.#keep(chunk)
      await this.#listener?.(chunk)
    }
  }

  collected(): Buffer {
    return this.#kept.bytes()
  }

  #keep(chunk: Buffer): void {
    if (this.#kept.length + chunk.length > this.#maxBytes) {
      const listener = this.#name === 'stdout' ? 'onStdout' : 'onStderr'
      throw new ResourceError(`${this.#name} of the command exceeds ${this.#maxBytes} bytes`, {
        remedy: `stream it with ${listener}, or raise maxBytes`,
      })
    }
    this.#kept.add(chunk)
  }
}
