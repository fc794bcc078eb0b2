import type { Duplex } from 'node:stream'
import { protocolError } from '../failures.ts'
import { encodeFrame, type Frame } from './frames.ts'
import { Channel, FrameType, MAX_PAYLOAD_BYTES, OPEN_CONTINUES } from './wire.ts'

/**
 * Control frames pile up if the agent does not read. Past this limit the host gives up on it. Data waits
 * for the socket, so it does not count.
 */
const MAX_UNSENT_BYTES = 16 * 1024 * 1024

/** How long the agent may take to read what was sent before the connection ends. */
const CLOSE_FLUSH_MS = 1000

/** The sending end of a connection: sends control frames immediately, and data when the socket takes it. */
export class Outbox {
  readonly #transport: Duplex
  readonly #onStuck: (error: Error) => void
  #waiting: (() => void)[] = []

  constructor(transport: Duplex, onStuck: (error: Error) => void) {
    this.#transport = transport
    this.#onStuck = onStuck
    transport.on('drain', () => this.#sendWaiting())
  }

  /** Sends immediately; control frames are small and bounded by what the agent sent. */
  control(frame: Frame): void {
    if (!this.#transport.writable) return
    this.#transport.write(encodeFrame(frame))
    if (this.#transport.writableLength > MAX_UNSENT_BYTES) {
      this.#onStuck(protocolError('it does not read what is sent to it'))
    }
  }

  /** Opens a stream, using as many frames as the request needs. */
  open(stream: number, request: Buffer): void {
    const { input: channel } = Channel
    for (let at = 0; ; at += MAX_PAYLOAD_BYTES) {
      const isLast = at + MAX_PAYLOAD_BYTES >= request.length
      const payload = request.subarray(at, at + MAX_PAYLOAD_BYTES)
      const flags = isLast ? 0 : OPEN_CONTINUES
      this.control({ type: FrameType.open, channel, stream, payload, flags })
      if (isLast) return
    }
  }

  /** Sends in turn; resolves when sent, or dropped because `isWanted` no longer holds. */
  data(frame: Frame, isWanted: () => boolean): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.push(() => {
      if (isWanted() && this.#transport.writable) this.#transport.write(encodeFrame(frame))
      resolve()
    })
    this.#sendWaiting()
    return promise
  }

  /** Sends what was accepted, ends the transport, and lets every waiting sender return. */
  close(): void {
    const waiting = this.#waiting
    this.#waiting = []
    const timer = setTimeout(() => this.#transport.destroy(), CLOSE_FLUSH_MS)
    timer.unref()
    this.#transport.end(() => {
      clearTimeout(timer)
      this.#transport.destroy()
    })
    for (const send of waiting) send()
  }

  #sendWaiting(): void {
    while (!this.#transport.writableNeedDrain) {
      const send = this.#waiting.shift()
      if (send === undefined) return
      send()
    }
  }
}
