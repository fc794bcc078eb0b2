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
import type { Viewer } from './redraw/redraw.ts'
import { type Replay, redrawn } from './replay.ts'
import type { TerminalSize } from './size.ts'

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

type Announced = Omit<Replay, 'bytes'> & { readonly replayBytes: number }

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
  /** The replay that must be shown before live output. */
  #due: Announced | null = null

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
   * What to show: the screen first, then live output. A viewer that is too slow jumps to the present:
   * its screen is drawn again. Drawing a screen repeats no query, clipboard write or bell of old output.
   */
  async *data(viewer: Viewer = 'newcomer'): AsyncGenerator<Buffer, void, undefined> {
    await this.#opened.promise
    let next = viewer
    let chunk: Buffer | null = Buffer.alloc(0)
    while (chunk !== null) {
      if (this.#due !== null) {
        yield* this.#screen(this.#due, next, chunk)
        next = 'returning'
      } else if (chunk.length > 0) {
        yield chunk
      }
      chunk = this.#due === null ? await this.#output.read() : Buffer.alloc(0)
    }
  }

  /** Draws what the replay led to. `first` is what was already read of it. */
  async *#screen(
    due: Announced,
    viewer: Viewer,
    first: Buffer,
  ): AsyncGenerator<Buffer, void, undefined> {
    this.#due = null
    const bytes = Buffer.concat([first, await this.readReplay()])
    // Another replay was announced meanwhile, and draws everything.
    if (this.#due !== null) return
    const replay = { ...due, bytes: bytes.subarray(0, due.replayBytes) }
    const { screen, begun } = await redrawn(replay, viewer)
    if (screen.length > 0) yield screen
    const live = Buffer.concat([begun, bytes.subarray(due.replayBytes)])
    if (live.length > 0) yield live
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
    const announced = readAnnounced(event)
    if (this.#output.receivedBytes > 0) this.#output.skip()
    this.#replayEnd = this.#output.receivedBytes + announced.replayBytes
    this.#due = announced
    this.#opened.resolve(event)
  }
}

/** Attaches to the terminal `name`, starting it if it does not exist. It gets the size, if one is given. */
export async function openTerminal(
  connection: AgentConnection,
  name: string,
  options: TerminalOptions = {},
): Promise<TerminalHandle> {
  const { cols, rows, argv, cwd, env, user } = options
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

function readAnnounced(event: Fields): Announced {
  const replayBytes = need(event, 'replayBytes')
  if (replayBytes < 0 || replayBytes > MAX_REPLAY_BYTES) {
    throw protocolError(`a replay of ${replayBytes} bytes`)
  }
  const size = { cols: need(event, 'cols'), rows: need(event, 'rows') }
  const { drawnCols = size.cols, drawnRows = size.rows } = event
  return { replayBytes, size, drawnFor: { cols: drawnCols, rows: drawnRows } }
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
