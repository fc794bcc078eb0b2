import type { Duplex } from 'node:stream'
import { protocolError } from '../failures.ts'
import { encodeFrame, type Frame } from './frames.ts'
import { Channel, FrameType, MAX_PAYLOAD_BYTES, OPEN_GOES_ON } from './wire.ts'

/**
 * An agent that does not read lets control frames pile up; past this it is given up. Data waits
 * for the socket and never counts.
 */
const MAX_UNSENT_BYTES = 16 * 1024 * 1024

/** How long the agent may take to read what was sent before the end. */
const CLOSE_FLUSH_MS = 1000

/** The sending end of a connection: control frames at once, data when the socket takes it. */
export class Outbox {
  readonly #transport: Duplex
  readonly #onStuck: (error: Error) => void
  #waiting: (() => void)[] = []

  constructor(transport: Duplex, onStuck: (error: Error) => void) {
    this.#transport = transport
    this.#onStuck = onStuck
    transport.on('drain', () => this.#release())
  }

  /** Sends at once; what matters is small and bounded by what the agent sent. */
  control(frame: Frame): void {
    if (!this.#transport.writable) return
    this.#transport.write(encodeFrame(frame))
    if (this.#transport.writableLength > MAX_UNSENT_BYTES) {
      this.#onStuck(protocolError('it does not read what it is sent'))
    }
  }

  /** Opens a stream, with as many frames as the request takes. */
  open(stream: number, request: Buffer): void {
    const { input: channel } = Channel
    for (let at = 0; ; at += MAX_PAYLOAD_BYTES) {
      const isLast = at + MAX_PAYLOAD_BYTES >= request.length
      const payload = request.subarray(at, at + MAX_PAYLOAD_BYTES)
      const flags = isLast ? 0 : OPEN_GOES_ON
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
    this.#release()
    return promise
  }

  /** Sends what was accepted and ends the transport; lets every waiting sender go. */
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

  #release(): void {
    while (!this.#transport.writableNeedDrain) {
      const send = this.#waiting.shift()
      if (send === undefined) return
      send()
    }
  }
}
