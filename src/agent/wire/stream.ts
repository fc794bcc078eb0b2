import { ConflictError } from '../../model/errors.ts'
import { type Attempt, agentRefusal, noAnswer, printable, protocolError } from '../failures.ts'
import { decodeFields, encodeFields, type Fields, need } from './fields.ts'
import type { Frame } from './frames.ts'
import { type ChannelShape, Inbox } from './inbox.ts'
import type { Outbox } from './outbox.ts'
import { type Patience, PatienceClock, promptly } from './patience.ts'
import { SendWindow } from './window.ts'
import { Channel, FrameType } from './wire.ts'

export interface StreamOptions {
  readonly attempt: Attempt
  /** The channels on which the agent may send, starting with channel 1. Default: none. */
  readonly outputs?: readonly ChannelShape[]
  /** Called as the event arrives, before data that follows it. */
  readonly onEvent?: (event: Fields) => void
  readonly signal?: AbortSignal | undefined
  /** How long to wait for the agent; default: the limit of a request without output. */
  readonly patience?: Patience
}

/** Data frames are no longer than this, so that others get a turn in between. */
const MAX_DATA_BYTES = 65_536
/** With less credit than this, wait for more instead of sending tiny frames. */
const MIN_DATA_BYTES = 4096
const OFFSET_BYTES = 8
const NO_BYTES = Buffer.alloc(0)

/** One operation on a connection: its outputs, its input and its result. */
export class AgentStream {
  readonly id: number
  /** The fields of the agent's RESULT; rejects if the agent refuses or the stream is cut. */
  readonly result: Promise<Fields>

  readonly #options: StreamOptions
  readonly #outbox: Outbox
  readonly #onOver: () => void
  readonly #inboxes: readonly Inbox[]
  readonly #window = new SendWindow()
  readonly #settle: PromiseWithResolvers<Fields>
  readonly #onAbort = () => this.cancel(this.#options.signal?.reason)
  readonly #clock: PatienceClock
  #isOver = false
  #inputHasEnded = false
  /** true while it is asking whether the environment is paused */
  #isAsking = false
  /** Writes of one stream go out in the order of their calls. */
  #lastWrite: Promise<void> = Promise.resolve()

  constructor(id: number, outbox: Outbox, options: StreamOptions, onOver: () => void) {
    this.id = id
    this.#outbox = outbox
    this.#options = options
    this.#onOver = onOver
    this.#clock = new PatienceClock(options.patience ?? promptly)
    this.#settle = Promise.withResolvers()
    this.result = this.#settle.promise
    // Whoever awaits the result sees its failure. If nobody does, it must not end the process.
    this.result.catch(() => {})
    this.#inboxes = (options.outputs ?? []).map(
      (shape, index) => new Inbox(shape, (bytes) => this.#giveCredit(index + 1, bytes)),
    )
    options.signal?.addEventListener('abort', this.#onAbort, { once: true })
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** True while this operation waits for the agent. */
  get isHostWaiting(): boolean {
    if (this.#window.isAwaited || this.#inboxes.some((inbox) => inbox.isAwaited)) return true
    const inputIsComplete = this.#inboxes.length > 0 || this.#inputHasEnded
    return inputIsComplete && this.#inboxes.every((inbox) => inbox.hasEnded)
  }

  /** Bytes that arrived on all channels. */
  get receivedBytes(): number {
    return this.#inboxes.reduce((sum, inbox) => sum + inbox.receivedBytes, 0)
  }

  /** Called by the connection once a second. */
  tick(isSuspended: () => Promise<boolean>): void {
    const waited = this.#clock.tick(this.isHostWaiting ? 'waits' : 'works')
    if (waited !== null) void this.#judgeSilence(isSuspended)
  }

  async #judgeSilence(isSuspended: () => Promise<boolean>): Promise<void> {
    if (this.#isAsking) return
    this.#isAsking = true
    const isPaused = await isSuspended()
    this.#isAsking = false
    // The answer may have come in the meantime.
    const waited = this.#clock.overdueSeconds
    if (waited === null) return
    if (isPaused) this.#clock.restart()
    else this.cancel(noAnswer(this.#options.attempt, waited))
  }

  /** The receiving end of channel 1 or 2. */
  output(channel: number = Channel.output): Inbox {
    const inbox = this.#inboxes[channel - 1]
    if (inbox === undefined) throw protocolError(`data on channel ${channel}`)
    return inbox
  }

  /** Sends bytes as input; resolves when all of them were sent. */
  send(bytes: Buffer): Promise<void> {
    return this.#inTurn(async () => {
      for (let at = 0; at < bytes.length; ) {
        const left = bytes.length - at
        const count = await this.#window.take(
          Math.min(left, MIN_DATA_BYTES),
          Math.min(left, MAX_DATA_BYTES),
        )
        await this.#sendData(bytes.subarray(at, at + count))
        at += count
      }
    })
  }

  /** Sends file content, which carries its offset in every frame. */
  sendAt(offset: number, bytes: Buffer): Promise<void> {
    return this.#inTurn(async () => {
      for (let at = 0; at < bytes.length; ) {
        const left = bytes.length - at
        const taken = await this.#window.take(
          OFFSET_BYTES + Math.min(left, MIN_DATA_BYTES),
          OFFSET_BYTES + Math.min(left, MAX_DATA_BYTES),
        )
        const count = taken - OFFSET_BYTES
        const prefix = Buffer.allocUnsafe(OFFSET_BYTES)
        prefix.writeBigUInt64LE(BigInt(offset + at))
        await this.#sendData(Buffer.concat([prefix, bytes.subarray(at, at + count)]))
        at += count
      }
    })
  }

  /** Announces the end of the input. */
  endInput(fields: Fields = {}): Promise<void> {
    return this.#inTurn(async () => {
      this.#inputHasEnded = true
      if (!this.#isOver) this.#control(FrameType.end, Channel.input, encodeFields(fields))
    })
  }

  /** Leaves the stream; whoever still waits on it fails with `reason`. */
  cancel(reason?: unknown): void {
    if (this.#isOver) return
    this.#control(FrameType.cancel, Channel.input, NO_BYTES)
    this.fail(reason instanceof Error ? reason : this.#cancelled())
  }

  /** Called by the connection for every frame of this stream. */
  receive(frame: Frame): void {
    this.#clock.noteFrame(frame.type === FrameType.event ? 'event' : 'other')
    switch (frame.type) {
      case FrameType.data:
        this.output(frame.channel).push(frame.payload)
        break
      case FrameType.end:
        this.output(frame.channel).end()
        break
      case FrameType.window:
        this.#receiveCredit(frame)
        break
      case FrameType.event:
        this.#options.onEvent?.(decodeFields(frame.payload))
        break
      case FrameType.result:
        this.#finish(decodeFields(frame.payload))
        break
      case FrameType.error:
        this.#refuse(decodeFields(frame.payload))
        break
      default:
        throw protocolError(`frame type ${frame.type} on stream ${this.id}`)
    }
  }

  /** Ends the stream on this side without notifying the agent. */
  fail(error: Error): void {
    if (this.#isOver) return
    this.#close(error)
    for (const inbox of this.#inboxes) inbox.fail(error)
    this.#settle.reject(error)
  }

  #cancelled(): Error {
    const { verb, subject } = this.#options.attempt
    return new ConflictError(`no longer waiting to ${verb} ${printable(subject)}`, {
      remedy: 'it was cancelled; start it again if you still need it',
    })
  }

  #finish(fields: Fields): void {
    const { verb, subject } = this.#options.attempt
    this.#close(
      new ConflictError(`no more input: ${verb} ${printable(subject)} has ended`, {
        remedy: 'start it again to send more',
      }),
    )
    for (const inbox of this.#inboxes) inbox.end()
    this.#settle.resolve(fields)
  }

  #refuse(fields: Fields): void {
    this.fail(agentRefusal(this.#options.attempt, need(fields, 'errno'), fields.message ?? ''))
  }

  #close(inputError: Error): void {
    this.#isOver = true
    this.#options.signal?.removeEventListener('abort', this.#onAbort)
    this.#window.fail(inputError)
    this.#onOver()
  }

  #receiveCredit(frame: Frame): void {
    if (frame.channel !== Channel.input) throw protocolError(`credit on channel ${frame.channel}`)
    if (frame.payload.length !== 4) throw protocolError('a malformed WINDOW')
    this.#window.grant(frame.payload.readUInt32LE(0))
  }

  #giveCredit(channel: number, bytes: number): void {
    if (this.#isOver) return
    const payload = Buffer.allocUnsafe(4)
    payload.writeUInt32LE(bytes)
    this.#control(FrameType.window, channel, payload)
  }

  #control(type: FrameType, channel: number, payload: Buffer): void {
    this.#outbox.control({ type, channel, stream: this.id, payload })
  }

  #sendData(payload: Buffer): Promise<void> {
    const frame = { type: FrameType.data, channel: Channel.input, stream: this.id, payload }
    return this.#outbox.data(frame, () => !this.#isOver)
  }

  #inTurn(write: () => Promise<void>): Promise<void> {
    const turn = this.#lastWrite.then(write)
    // The caller of this write sees its failure; the next write has its own result.
    this.#lastWrite = turn.catch(() => {})
    return turn
  }
}
