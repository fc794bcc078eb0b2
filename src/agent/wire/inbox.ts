import { protocolError } from '../failures.ts'
import { ReceiveWindow } from './window.ts'

/**
 * How to treat a channel's payloads: `bytes` ignores the boundaries of frames, and `frames` keeps them
 * apart.
 */
export type ChannelShape = 'bytes' | 'frames'

/** Small chunks of bytes are joined up to this size, so that one-byte frames cannot pile up. */
const JOIN_BELOW_BYTES = 4096
/** Every frame of file content starts with a u64 offset. */
const MIN_FRAME_BYTES = 9

/**
 * The receiving end of one channel: holds at most a window of data, and returns credit when the
 * reader takes data. One reader at a time.
 */
export class Inbox implements AsyncIterable<Buffer> {
  readonly #shape: ChannelShape
  readonly #giveCredit: (bytes: number) => void
  readonly #window = new ReceiveWindow()
  #queue: Buffer[] = []
  #reader: PromiseWithResolvers<void> | null = null
  #ending: { error: Error | null } | null = null
  #discarding = false
  #receivedBytes = 0
  #takenBytes = 0

  constructor(shape: ChannelShape, giveCredit: (bytes: number) => void) {
    this.#shape = shape
    this.#giveCredit = giveCredit
  }

  /** Bytes that arrived, whether or not they were read. */
  get receivedBytes(): number {
    return this.#receivedBytes
  }

  /** Bytes that the reader took. */
  get takenBytes(): number {
    return this.#takenBytes
  }

  /** Whether somebody waits for data. */
  get isAwaited(): boolean {
    return this.#reader !== null
  }

  /** Whether no more will arrive. */
  get hasEnded(): boolean {
    return this.#ending !== null
  }

  push(chunk: Buffer): void {
    if (this.#ending !== null) throw protocolError('data after the end of its channel')
    this.#window.received(chunk.length)
    this.#receivedBytes += chunk.length
    if (this.#shape === 'frames' && chunk.length < MIN_FRAME_BYTES) {
      throw protocolError(`file content in a frame of ${chunk.length} bytes`)
    }
    if (chunk.length === 0) return
    if (this.#discarding) this.#take(chunk)
    else this.#enqueue(chunk)
    this.#wake()
  }

  #enqueue(chunk: Buffer): void {
    const last = this.#queue.at(-1)
    const joined = (last?.length ?? 0) + chunk.length
    if (this.#shape === 'bytes' && last !== undefined && joined <= JOIN_BELOW_BYTES) {
      this.#queue[this.#queue.length - 1] = Buffer.concat([last, chunk])
    } else {
      this.#queue.push(chunk)
    }
  }

  /** No more will arrive; what is queued can still be read. */
  end(): void {
    this.#ending ??= { error: null }
    this.#wake()
  }

  /** Like `end`, but reading past what is queued throws. */
  fail(error: Error): void {
    this.#ending ??= { error }
    this.#wake()
  }

  /** The next chunk, `null` at the end. */
  async read(): Promise<Buffer | null> {
    for (;;) {
      const chunk = this.#queue.shift()
      if (chunk !== undefined) {
        this.#take(chunk)
        return chunk
      }
      if (this.#ending?.error) throw this.#ending.error
      if (this.#ending !== null) return null
      this.#reader ??= Promise.withResolvers()
      await this.#reader.promise
    }
  }

  /** Drops what is queued, as if it had been read. */
  skip(): void {
    const queued = this.#queue
    this.#queue = []
    for (const chunk of queued) this.#take(chunk)
  }

  /** Drops what is queued and whatever arrives later, so that nobody waits for a reader. */
  discard(): void {
    this.#discarding = true
    this.skip()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Buffer, void, undefined> {
    for (;;) {
      const chunk = await this.read()
      if (chunk === null) return
      yield chunk
    }
  }

  #take(chunk: Buffer): void {
    this.#takenBytes += chunk.length
    const credit = this.#window.consumed(chunk.length)
    if (credit > 0 && this.#ending === null) this.#giveCredit(credit)
  }

  #wake(): void {
    this.#reader?.resolve()
    this.#reader = null
  }
}
