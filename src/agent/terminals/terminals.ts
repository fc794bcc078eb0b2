import { toBytes } from '../../model/text/bytes.ts'
import { envEntries } from '../commands/command-spec.ts'
import { type ExitStatus, readExitStatus } from '../commands/signals.ts'
import { noAnswer, protocolError } from '../failures.ts'
import { listRecords } from '../files/listing.ts'
import { ByteCollector } from '../wire/byte-collector.ts'
import type { AgentConnection, CallOptions } from '../wire/connection.ts'
import { within } from '../wire/deadline.ts'
import { type Fields, need } from '../wire/fields.ts'
import type { Inbox } from '../wire/inbox.ts'
import { begunPromptly } from '../wire/patience.ts'
import type { AgentStream } from '../wire/stream.ts'
import { MAX_REPLAY_BYTES, Op } from '../wire/wire.ts'
import { givenOptions, givenSize } from './given.ts'
import { ReplayFilter } from './replay-filter.ts'

export interface TerminalSize {
  readonly cols: number
  readonly rows: number
}

export interface TerminalOptions extends CallOptions, Partial<TerminalSize> {
  /** Default: the login shell. */
  readonly argv?: readonly string[]
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly user?: string
}

export interface TerminalInfo extends TerminalSize {
  readonly name: string
  readonly pid: number
  readonly running: boolean
}

/** ESC c, a full reset: clears any emulator before a new replay repeats its content. */
const RESET = Buffer.from('\x1bc')
const START_IF_MISSING = 1
/** How long to wait for the next piece of a replay. */
const REPLAY_MS = 30_000

/** One viewer of a terminal. Viewers see everything, and each may type. */
export class TerminalHandle {
  readonly name: string
  /** How the terminal's program ended. */
  readonly exit: Promise<ExitStatus>

  readonly #connection: AgentConnection
  readonly #stream: AgentStream
  readonly #output: Inbox
  readonly #opened = Promise.withResolvers<Fields>()
  /** Where in the output the replay ends. */
  #replayEnd = 0
  /** The filter of the replay that is being read; null once its last sequence is complete. */
  #filter: ReplayFilter | null = null
  #resetIsDue = false

  constructor(connection: AgentConnection, name: string, fields: Fields, options: CallOptions) {
    this.name = name
    this.#connection = connection
    this.#stream = connection.open(fields, {
      attempt: { verb: 'open terminal', subject: name },
      outputs: ['bytes'],
      onEvent: (event) => this.#onReplay(event),
      signal: options.signal,
      patience: begunPromptly,
    })
    this.#output = this.#stream.output()
    this.exit = this.#stream.result.then(readExitStatus)
    this.exit.then(
      () => this.#opened.reject(protocolError('a terminal ended before it opened')),
      (error) => this.#opened.reject(error),
    )
    // Whoever awaits it sees the failure, and so does `exit`.
    this.#opened.promise.catch(() => {})
  }

  /** Resolves to the terminal's state at the time this viewer attached. */
  async opened(): Promise<TerminalSize & { pid: number; replayBytes: number }> {
    const event = await this.#opened.promise
    return {
      cols: need(event, 'cols'),
      rows: need(event, 'rows'),
      pid: need(event, 'pid'),
      replayBytes: need(event, 'replayBytes'),
    }
  }

  /**
   * What to show: recent output first, then live output. A viewer that is too slow jumps to the present:
   * it gets a terminal reset and recent output again. Recent output includes only what draws, so that no
   * query, clipboard write or bell is repeated.
   */
  async *data(): AsyncGenerator<Buffer, void, undefined> {
    for (;;) {
      const chunk = await this.#output.read()
      if (this.#resetIsDue) {
        this.#resetIsDue = false
        yield RESET
      }
      if (chunk === null) return
      const shown = this.#withoutEffects(chunk)
      if (shown.length > 0) yield shown
    }
  }

  /** Old output reduced to what draws; live output unchanged. */
  #withoutEffects(chunk: Buffer): Buffer {
    if (this.#filter === null) return chunk
    const startsAt = this.#output.takenBytes - chunk.length
    const old = Math.max(0, Math.min(chunk.length, this.#replayEnd - startsAt))
    const parts = [this.#filter.push(chunk.subarray(0, old))]
    let at = old
    // A sequence that began in the replay belongs to the replay to its end.
    while (at < chunk.length && !this.#filter.isBetweenSequences) {
      parts.push(this.#filter.push(chunk.subarray(at, at + 1)))
      at += 1
    }
    const isOver = startsAt + at >= this.#replayEnd && this.#filter.isBetweenSequences
    if (isOver) this.#filter = null
    return Buffer.concat([...parts, chunk.subarray(at)])
  }

  async write(data: Buffer | string): Promise<void> {
    await this.#stream.send(toBytes(data))
  }

  async resize(size: TerminalSize, options?: CallOptions): Promise<void> {
    await resizeTerminal(this.#connection, this.name, givenSize(size), givenOptions(options))
  }

  /** Leaves the terminal as it is; its program continues. */
  detach(): void {
    this.#stream.cancel()
  }

  /** The recent output that this viewer got first. */
  async readReplay(): Promise<Buffer> {
    await this.#opened.promise
    const replay = new ByteCollector()
    while (this.#output.takenBytes < this.#replayEnd) {
      // A replay was announced, so it must arrive. Live output may never come.
      const chunk = await within(this.#output.read(), REPLAY_MS, noReplay(this.name), undefined)
      if (chunk === null) break
      replay.add(chunk)
    }
    return replay.bytes()
  }

  #onReplay(event: Fields): void {
    const replayBytes = need(event, 'replayBytes')
    if (replayBytes < 0 || replayBytes > MAX_REPLAY_BYTES) {
      throw protocolError(`a replay of ${replayBytes} bytes`)
    }
    if (this.#output.receivedBytes > 0) {
      this.#output.skip()
      this.#resetIsDue = true
    }
    this.#replayEnd = this.#output.receivedBytes + replayBytes
    this.#filter = new ReplayFilter()
    this.#opened.resolve(event)
  }
}

/** Attaches to the terminal `name`, starting it if it does not exist. */
export async function openTerminal(
  connection: AgentConnection,
  name: string,
  options: TerminalOptions = {},
): Promise<TerminalHandle> {
  const { cols = 80, rows = 24, argv, cwd, env, user } = options
  const fields: Fields = {
    op: Op.termOpen,
    name,
    cols,
    rows,
    flags: START_IF_MISSING,
    argv,
    cwd,
    user,
    env: env && envEntries(env),
  }
  const handle = new TerminalHandle(connection, name, fields, options)
  await handle.opened()
  return handle
}

/** Attaches to the terminal `name`, which must exist; its size stays. */
export async function attachTerminal(
  connection: AgentConnection,
  name: string,
  options: CallOptions = {},
): Promise<TerminalHandle> {
  const handle = new TerminalHandle(connection, name, { op: Op.termOpen, name }, options)
  await handle.opened()
  return handle
}

export async function resizeTerminal(
  connection: AgentConnection,
  name: string,
  size: TerminalSize,
  options: CallOptions = {},
): Promise<void> {
  const { cols, rows } = size
  const attempt = { verb: 'resize terminal', subject: name }
  await connection.request(attempt, { op: Op.termResize, name, cols, rows }, options)
}

export function listTerminals(
  connection: AgentConnection,
  options: CallOptions = {},
): Promise<TerminalInfo[]> {
  const attempt = { verb: 'list', subject: 'terminals' }
  return listRecords(connection, attempt, { op: Op.termList }, readInfo, options)
}

/** Ends the terminal's program: hang-up first, then a kill. */
export async function closeTerminal(
  connection: AgentConnection,
  name: string,
  options: CallOptions = {},
): Promise<void> {
  await connection.request(
    { verb: 'close terminal', subject: name },
    { op: Op.termClose, name },
    options,
  )
}

function noReplay(name: string): Error {
  return noAnswer({ verb: 'show terminal', subject: name }, REPLAY_MS / 1000)
}

function readInfo(record: Fields): TerminalInfo {
  return {
    name: need(record, 'name'),
    pid: need(record, 'pid'),
    cols: need(record, 'cols'),
    rows: need(record, 'rows'),
    running: record.running === 1,
  }
}
