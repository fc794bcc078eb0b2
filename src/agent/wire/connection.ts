import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { CallOptions } from '../../model/call-options.ts'
import { BackendError, TimeoutError } from '../../model/errors.ts'
import { patience } from '../../model/values/patience.ts'
import {
  type Attempt,
  agentIsSilent,
  connectionLost,
  NO_ANSWER_REMEDY,
  otherVersion,
  printable,
  protocolError,
  requestTooLong,
  tooManyStreams,
} from '../failures.ts'
import { within } from './deadline.ts'
import { decodeFields, encodeFields, type Fields, need } from './fields.ts'
import { type Frame, FrameDecoder } from './frames.ts'
import { Outbox } from './outbox.ts'
import type { Patience } from './patience.ts'
import { AgentStream, type StreamOptions } from './stream.ts'
import { Watchdog, type WatchdogOptions } from './watchdog.ts'
import { Channel, Feature, FrameType, MAX_OPEN_BYTES, PROTOCOL_VERSION } from './wire.ts'

export type { CallOptions }

export interface PingOptions extends CallOptions {
  /** Default 10 s. */
  readonly timeoutMs?: number
}

export interface RequestOptions extends CallOptions {
  readonly patience?: Patience
}

const PING_SECONDS = 10
/** What the agent is assumed to allow if it does not say. */
const DEFAULT_MAX_STREAMS = 1024
const MAX_STREAM_ID = 0xffff_ffff
const NO_BYTES = Buffer.alloc(0)

/** Many operations over one stream to an agent. */
export class AgentConnection implements AsyncDisposable {
  /** Resolves when both sides have sent their hello. */
  readonly ready: Promise<void>
  /** Resolves when the connection has ended: to the reason, or `null` after an orderly end. */
  readonly closed: Promise<Error | null>

  readonly #transport: Duplex
  readonly #options: WatchdogOptions
  readonly #watchdog: Watchdog
  readonly #outbox: Outbox
  readonly #decoder = new FrameDecoder()
  readonly #streams = new Map<number, AgentStream>()
  readonly #pings = new Map<string, PromiseWithResolvers<void>>()
  readonly #hello = Promise.withResolvers<void>()
  readonly #end = Promise.withResolvers<Error | null>()
  #features = 0
  #state: 'greeting' | 'open' | 'closed' = 'greeting'
  #failure: Error | null = null
  #maxStreams = DEFAULT_MAX_STREAMS
  #lastStream = 0
  #lastPing = 0n

  constructor(transport: Duplex, options: WatchdogOptions = {}) {
    this.#transport = transport
    this.#options = options
    this.#watchdog = new Watchdog(
      {
        tick: (isSuspended) => {
          for (const stream of [...this.#streams.values()]) stream.tick(isSuspended)
        },
        ping: () => this.#control(FrameType.ping, NO_BYTES),
        giveUp: (seconds) => this.destroy(agentIsSilent(seconds)),
      },
      options,
    )
    this.#outbox = new Outbox(transport, (error) => this.destroy(error))
    this.ready = this.#hello.promise
    // Whoever awaits it sees the failure, and so does every operation.
    this.ready.catch(() => {})
    this.closed = this.#end.promise
    transport.on('data', (chunk: Buffer) => this.#receive(chunk))
    transport.on('end', () => this.#shutDown(null))
    transport.on('close', () => this.#shutDown(null))
    transport.on('error', (error) => this.#shutDown(connectionLost(error)))
    this.#control(FrameType.hello, encodeFields({ version: PROTOCOL_VERSION }))
  }

  /** The environment is paused, so the agent cannot answer now. */
  async isSuspended(): Promise<boolean> {
    return (await this.#options.isSuspended?.()) ?? false
  }

  get secondMs(): number | undefined {
    return this.#options.secondMs
  }

  /** Whether the agent is new enough for this. */
  has(feature: keyof typeof Feature): boolean {
    return (this.#features & Feature[feature]) !== 0
  }

  get isOpen(): boolean {
    return this.#state === 'open'
  }

  /** Starts an operation. Throws immediately if the connection has ended or the request is too long. */
  open(fields: Fields, options: StreamOptions): AgentStream {
    options.signal?.throwIfAborted()
    if (this.#state === 'closed') throw this.#failure ?? connectionLost()
    const request = encodeFields(fields)
    if (request.length > MAX_OPEN_BYTES) throw requestTooLong(options.attempt, request.length)
    if (this.#streams.size >= this.#maxStreams || this.#lastStream === MAX_STREAM_ID) {
      throw tooManyStreams(options.attempt, this.#streams.size)
    }
    this.#lastStream += 1
    const id = this.#lastStream
    const stream = new AgentStream(id, this.#outbox, options, () => {
      this.#streams.delete(id)
      this.#holdProcess()
    })
    this.#streams.set(id, stream)
    this.#holdProcess()
    this.#outbox.open(id, request)
    return stream
  }

  /** An operation with nothing but a result. */
  async request(attempt: Attempt, fields: Fields, options: RequestOptions = {}): Promise<Fields> {
    const { signal, patience } = options
    return await this.open(fields, { attempt, signal, ...(patience && { patience }) }).result
  }

  /** Round trip to the agent, in milliseconds. */
  async ping(options: PingOptions = {}): Promise<number> {
    if (this.#state === 'closed') throw this.#failure ?? connectionLost()
    this.#lastPing += 1n
    const payload = Buffer.allocUnsafe(8)
    payload.writeBigUInt64LE(this.#lastPing)
    const key = payload.toString('latin1')
    const pong = Promise.withResolvers<void>()
    this.#pings.set(key, pong)
    this.#holdProcess()
    const startedAt = performance.now()
    this.#control(FrameType.ping, payload)
    try {
      const waited = options.timeoutMs ?? patience(PING_SECONDS)
      const late = new TimeoutError(`the agent did not answer a ping within ${waited} ms`, {
        remedy: NO_ANSWER_REMEDY,
      })
      await within(pong.promise, waited, late, options.signal)
    } finally {
      this.#pings.delete(key)
      this.#holdProcess()
    }
    return performance.now() - startedAt
  }

  /** Ends the connection in order. Commands inside continue; open streams fail. */
  async close(): Promise<void> {
    if (this.#state === 'closed') return
    this.#shutDown(null)
  }

  /** Ends the connection immediately. */
  destroy(error: Error): void {
    this.#shutDown(error)
    this.#transport.destroy()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #receive(chunk: Buffer): void {
    try {
      for (const frame of this.#decoder.push(chunk)) {
        if (this.#state === 'closed') return
        this.#dispatch(frame)
      }
    } catch (error) {
      this.destroy(error instanceof Error ? error : protocolError(String(error)))
    }
  }

  #dispatch(frame: Frame): void {
    this.#watchdog.noteFrame()
    if (this.#state === 'greeting') this.#greet(frame)
    else if (frame.stream === 0) this.#dispatchOwn(frame)
    else this.#dispatchToStream(frame)
  }

  #dispatchToStream(frame: Frame): void {
    if (frame.stream > this.#lastStream) {
      throw protocolError(`a frame for stream ${frame.stream}, which was never opened`)
    }
    // Frames of a cancelled stream were still in transit; nobody waits for them.
    this.#streams.get(frame.stream)?.receive(frame)
  }

  #dispatchOwn(frame: Frame): void {
    switch (frame.type) {
      case FrameType.ping:
        this.#control(FrameType.pong, frame.payload)
        break
      case FrameType.pong:
        this.#pings.get(frame.payload.toString('latin1'))?.resolve()
        break
      case FrameType.error:
        throw new BackendError(`the agent ended the connection: ${wordsOf(frame)}`, {
          remedy: 'connect again; running commands continue and can be attached to by id',
        })
      default:
        throw protocolError(`frame type ${frame.type} outside a stream`)
    }
  }

  #greet(frame: Frame): void {
    if (frame.type === FrameType.error && frame.stream === 0) this.#dispatchOwn(frame)
    if (frame.type !== FrameType.hello || frame.stream !== 0) {
      throw protocolError(`it began with frame type ${frame.type} instead of a hello`)
    }
    const hello = decodeFields(frame.payload)
    const version = need(hello, 'version')
    if (version !== PROTOCOL_VERSION) throw otherVersion(version)
    this.#maxStreams = Math.max(1, hello.maxStreams ?? DEFAULT_MAX_STREAMS)
    this.#features = hello.features ?? 0
    this.#state = 'open'
    this.#hello.resolve()
    this.#holdProcess()
  }

  #control(type: FrameType, payload: Buffer): void {
    this.#outbox.control({ type, channel: Channel.input, stream: 0, payload })
  }

  #shutDown(error: Error | null): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    this.#failure = error
    const failure = error ?? connectionLost()
    this.#hello.reject(failure)
    for (const stream of [...this.#streams.values()]) stream.fail(failure)
    for (const pong of this.#pings.values()) pong.reject(failure)
    this.#holdProcess()
    this.#outbox.close()
    this.#end.resolve(error)
  }

  /** An idle connection must not keep a process alive, and needs no watchdog; running work does both. */
  #holdProcess(): void {
    if (this.#state === 'open' && this.#streams.size > 0) this.#watchdog.start()
    else this.#watchdog.stop()
    if (!(this.#transport instanceof Socket)) return
    const isBusy = this.#state === 'greeting' || this.#streams.size > 0 || this.#pings.size > 0
    if (isBusy) this.#transport.ref()
    else this.#transport.unref()
  }
}

function wordsOf(frame: Frame): string {
  return printable(decodeFields(frame.payload).message ?? 'no reason given')
}
