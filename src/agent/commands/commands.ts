import { Readable } from 'node:stream'
import { toBytes } from '../../model/text/bytes.ts'
import { protocolError } from '../failures.ts'
import { listRecords } from '../files/listing.ts'
import { givenOptions } from '../terminals/given.ts'
import type { AgentConnection, CallOptions } from '../wire/connection.ts'
import { type Fields, need } from '../wire/fields.ts'
import type { Inbox } from '../wire/inbox.ts'
import { begunPromptly, type Patience, unlimited } from '../wire/patience.ts'
import type { AgentStream } from '../wire/stream.ts'
import { Channel, Op } from '../wire/wire.ts'
import {
  type CommandSpec,
  checkCommandId,
  inCopyFlag,
  newCommandId,
  startFields,
} from './command-spec.ts'
import { type ExitStatus, readExitStatus, signalNumber } from './signals.ts'

export interface CommandResult extends ExitStatus {
  readonly timedOut: boolean
  /** The shell that ran it has ended, too; the next command gets a new one. */
  readonly shellGone: boolean
  readonly durationMs: number
}

/** How many bytes of each stream the reader has taken, which is where a later attach continues. */
export interface CommandOffsets {
  readonly stdout: number
  readonly stderr: number
}

export interface CommandInfo {
  readonly id: string
  /** `detached`: in a copy of the shell */
  readonly mode: 'shell' | 'process' | 'detached'
  readonly shell: string | null
  readonly command: string
  readonly pid: number | null
  readonly running: boolean
  /** For how long it has run, or ran; null if the agent is too old to know. */
  readonly durationMs: number | null
  /** How much it has printed so far; null if the agent is too old to know. */
  readonly printed: CommandOffsets | null
  /** How it ended; null while it runs. */
  readonly exit: ExitStatus | null
}

/**
 * Output of a command, in order and complete. The command waits for its reader, so call `discard` if you
 * do not want the bytes.
 */
export interface CommandOutput extends AsyncIterable<Buffer> {
  read(): Promise<Buffer | null>
  discard(): void
}

export interface AttachOptions extends CallOptions {
  /**
   * Leaves the command to whoever follows it now, and never holds it up. Fails if it falls behind by more than
   * the agent keeps.
   */
  readonly readAlong?: boolean | undefined
}

export interface SignalOptions extends CallOptions {
  /** The agent kills the command if it still runs after this time. */
  readonly graceMs?: number | undefined
}

export interface ListOptions extends CallOptions {
  /** also the last command that was forgotten when it had ended */
  readonly last?: boolean | undefined
}

export interface Remembering {
  /**
   * Whether the environment remembers it once it has ended: in its log, and the end of its output until the next
   * one has ended. For what a user runs, and not for what Forkpoint looks up for itself.
   */
  readonly isRemembered?: boolean | undefined
}

/** Flag of `exec.attach`. */
const readAlongFlag = 1
/** Flag of `exec.list`. */
const withLastFlag = 2
/** Flag of `exec.forget`. */
const butLastFlag = 1

const NOTHING_TAKEN: CommandOffsets = { stdout: 0, stderr: 0 }

/** A command that runs, or ran, inside. */
export class CommandHandle {
  readonly id: string
  readonly pid: Promise<number>
  readonly stdout: CommandOutput
  readonly stderr: CommandOutput

  readonly #connection: AgentConnection
  readonly #stream: AgentStream
  readonly #stdout: Inbox
  readonly #stderr: Inbox
  readonly #pid = Promise.withResolvers<number>()
  readonly #attached = Promise.withResolvers<void>()
  readonly #result: Promise<CommandResult>
  #base: CommandOffsets

  constructor(
    connection: AgentConnection,
    id: string,
    fields: Fields,
    base: CommandOffsets,
    options: CallOptions & { readonly patience: Patience },
  ) {
    this.id = id
    this.#connection = connection
    this.#base = base
    this.#stream = connection.open(fields, {
      attempt: { verb: 'run command', subject: id },
      outputs: ['bytes', 'bytes'],
      onEvent: (event) => this.#onEvent(event),
      signal: options.signal,
      patience: options.patience,
    })
    this.#stdout = this.#stream.output(Channel.stdout)
    this.#stderr = this.#stream.output(Channel.stderr)
    this.stdout = this.#stdout
    this.stderr = this.#stderr
    this.pid = this.#pid.promise
    // Whoever awaits these two sees the failure, and so does `wait`.
    this.pid.catch(() => {})
    this.#attached.promise.catch(() => {})
    this.#result = this.#stream.result.then(readResult)
    this.#result.then(
      () => this.#giveUpWaiting(protocolError('a command ended before it began')),
      (error) => this.#giveUpWaiting(error),
    )
  }

  /** Resolves when the agent has reported where an attach really continues. */
  get attached(): Promise<void> {
    return this.#attached.promise
  }

  /** What the reader has taken; pass it to `attachCommand` to continue from here. */
  get offsets(): CommandOffsets {
    return {
      stdout: this.#base.stdout + this.#stdout.takenBytes,
      stderr: this.#base.stderr + this.#stderr.takenBytes,
    }
  }

  async writeStdin(data: Buffer | string): Promise<void> {
    await this.#stream.send(toBytes(data))
  }

  endStdin(): Promise<void> {
    return this.#stream.endInput()
  }

  async signal(signal: NodeJS.Signals, options?: SignalOptions): Promise<void> {
    await signalCommand(this.#connection, this.id, signal, options)
  }

  /** Resolves when the command has ended and its output was read. */
  wait(): Promise<CommandResult> {
    return this.#result
  }

  /** Leaves the command running; it can be attached to again. Pending waits fail with `reason`. */
  detach(reason?: Error): void {
    this.#stream.cancel(reason)
  }

  /** True while the host waits for output or the end of the command. */
  get isHostWaiting(): boolean {
    return this.#stream.isHostWaiting
  }

  /** Bytes of output that have arrived, whether or not they were read. */
  get receivedBytes(): number {
    return this.#stream.receivedBytes
  }

  #onEvent(event: Fields): void {
    if (event.stdoutOffset !== undefined || event.stderrOffset !== undefined) {
      if (this.#stdout.receivedBytes + this.#stderr.receivedBytes > 0) {
        throw protocolError('offsets in the middle of output')
      }
      this.#base = { stdout: event.stdoutOffset ?? 0, stderr: event.stderrOffset ?? 0 }
    }
    if (event.pid !== undefined && event.pid > 0) this.#pid.resolve(event.pid)
    this.#attached.resolve()
  }

  #giveUpWaiting(error: Error): void {
    this.#pid.reject(error)
    this.#attached.reject(error)
  }
}

export function startCommand(
  connection: AgentConnection,
  spec: CommandSpec,
  options: CallOptions = {},
): CommandHandle {
  const id = spec.id ?? newCommandId()
  // In a shell, it waits for the commands before it, which may take hours.
  const patience = spec.mode === 'process' ? begunPromptly : unlimited
  const { signal } = options
  const fields = startFields(id, spec)
  return new CommandHandle(connection, id, fields, NOTHING_TAKEN, { signal, patience })
}

/**
 * Continues a command's output after `offsets`. The handle's own `offsets` then say where it
 * really continued: later, if the agent no longer holds those bytes.
 */
export async function attachCommand(
  connection: AgentConnection,
  id: string,
  offsets: CommandOffsets = NOTHING_TAKEN,
  options: AttachOptions = {},
): Promise<CommandHandle> {
  const fields = {
    op: Op.execAttach,
    flags: options.readAlong ? readAlongFlag : undefined,
    id: checkCommandId(id),
    stdoutOffset: offsets.stdout,
    stderrOffset: offsets.stderr,
  }
  const { signal } = options
  const patience = begunPromptly
  const handle = new CommandHandle(connection, id, fields, offsets, { signal, patience })
  await handle.attached
  return handle
}

/** Oldest first. */
export function listCommands(
  connection: AgentConnection,
  { last, ...options }: ListOptions = {},
): Promise<CommandInfo[]> {
  const attempt = { verb: 'list', subject: 'commands' }
  const fields = { op: Op.execList, flags: last ? withLastFlag : undefined }
  return listRecords(connection, attempt, fields, readInfo, options)
}

/** Needs no handle, so it takes the output away from nobody. */
export async function signalCommand(
  connection: AgentConnection,
  id: string,
  signal: NodeJS.Signals,
  options?: SignalOptions,
): Promise<void> {
  const call = givenOptions(options)
  await connection.request(
    { verb: `send ${signal} to command`, subject: id },
    {
      op: Op.execSignal,
      id: checkCommandId(id),
      signal: signalNumber(signal),
      graceMs: options?.graceMs,
    },
    call,
  )
}

/** Drops a command that has ended. */
export async function forgetCommand(
  connection: AgentConnection,
  id: string,
  { isRemembered, ...options }: CallOptions & Remembering = {},
): Promise<void> {
  const attempt = { verb: 'forget command', subject: id }
  const flags = isRemembered ? butLastFlag : undefined
  await connection.request(attempt, { op: Op.execForget, id: checkCommandId(id), flags }, options)
}

/** Output as a Node stream, which reads one chunk ahead of its consumer. */
export function toReadable(output: CommandOutput): Readable {
  return Readable.from(output, { objectMode: false, highWaterMark: 1 })
}

function readResult(fields: Fields): CommandResult {
  return {
    ...readExitStatus(fields),
    timedOut: fields.timedOut === 1,
    shellGone: fields.shellGone === 1,
    durationMs: need(fields, 'durationUs') / 1000,
  }
}

function printedOf({ stdoutOffset, stderrOffset }: Fields): CommandOffsets | null {
  if (stdoutOffset === undefined || stderrOffset === undefined) return null
  return { stdout: stdoutOffset, stderr: stderrOffset }
}

export function modeOf({ modeExec, flags = 0 }: Fields): CommandInfo['mode'] {
  if (modeExec !== 1) return 'process'
  return (flags & inCopyFlag) === 0 ? 'shell' : 'detached'
}

function readInfo(record: Fields): CommandInfo {
  const running = record.running === 1
  const hasEnded = record.exitCode !== undefined || record.signal !== undefined
  return {
    id: need(record, 'id'),
    mode: modeOf(record),
    shell: record.shell ?? null,
    command: record.command ?? '',
    // 0 while it waits for its turn.
    pid: record.pid || null,
    running,
    printed: printedOf(record),
    durationMs: record.durationUs === undefined ? null : record.durationUs / 1000,
    exit: !running && hasEnded ? readExitStatus(record) : null,
  }
}
