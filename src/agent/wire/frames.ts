import { protocolError } from '../failures.ts'
import { ByteQueue } from './byte-queue.ts'
import { FrameType, HEADER_BYTES, MAX_PAYLOAD_BYTES } from './wire.ts'

/**
 * A frame is a 12-byte little-endian header and a payload:
 *
 *   u32 payload length | u8 type | u8 channel | u16 flags | u32 stream
 */
export interface Frame {
  readonly type: FrameType
  readonly channel: number
  readonly stream: number
  /** May share memory with the chunk it arrived in. */
  readonly payload: Buffer
  /** Only set on an OPEN, so never by the agent. */
  readonly flags?: number
}

const knownTypes: ReadonlySet<number> = new Set(Object.values(FrameType))
const MAX_CHANNEL = 2
/** How many times its own size a payload may keep in memory. */
const MAX_SHARE = 4

export function encodeFrame(frame: Frame): Buffer {
  const { type, channel, stream, payload, flags = 0 } = frame
  if (payload.length > MAX_PAYLOAD_BYTES) {
    throw new RangeError(`a frame of ${payload.length} bytes exceeds ${MAX_PAYLOAD_BYTES}`)
  }
  const header = Buffer.allocUnsafe(HEADER_BYTES)
  header.writeUInt32LE(payload.length, 0)
  header.writeUInt8(type, 4)
  header.writeUInt8(channel, 5)
  header.writeUInt16LE(flags, 6)
  header.writeUInt32LE(stream, 8)
  return Buffer.concat([header, payload])
}

/** Turns chunks of any size into frames. Holds at most one frame and one chunk. */
export class FrameDecoder {
  #bytes = new ByteQueue()
  #header: FrameHeader | null = null

  /** Bytes of a frame that is not complete yet. */
  get heldBytes(): number {
    return this.#bytes.length
  }

  /** Yields the frames that `chunk` completes; throws on a malformed header. */
  *push(chunk: Buffer): Generator<Frame, void, undefined> {
    this.#bytes.push(chunk)
    for (;;) {
      if (this.#header === null) {
        if (this.#bytes.length < HEADER_BYTES) return
        this.#header = readHeader(this.#bytes.take(HEADER_BYTES))
      }
      const { type, channel, stream, payloadBytes } = this.#header
      if (this.#bytes.length < payloadBytes) return
      this.#header = null
      yield { type, channel, stream, payload: detached(this.#bytes.take(payloadBytes)) }
    }
  }
}

/**
 * A payload keeps the whole chunk that it is a slice of in memory. A small one is copied, because
 * otherwise an agent could make us hold megabytes for every byte it sends.
 */
function detached(payload: Buffer): Buffer {
  if (payload.length * MAX_SHARE >= payload.buffer.byteLength) return payload
  const copy = Buffer.allocUnsafeSlow(payload.length)
  payload.copy(copy)
  return copy
}

interface FrameHeader extends Omit<Frame, 'payload'> {
  readonly payloadBytes: number
}

function readHeader(bytes: Buffer): FrameHeader {
  const payloadBytes = bytes.readUInt32LE(0)
  const type = bytes.readUInt8(4)
  const channel = bytes.readUInt8(5)
  const flags = bytes.readUInt16LE(6)
  const stream = bytes.readUInt32LE(8)
  if (payloadBytes > MAX_PAYLOAD_BYTES) throw protocolError(`a frame claims ${payloadBytes} bytes`)
  if (!isFrameType(type)) throw protocolError(`unknown frame type ${type}`)
  if (channel > MAX_CHANNEL) throw protocolError(`unknown channel ${channel}`)
  if (flags !== 0) throw protocolError(`frame flags ${flags}`)
  return { type, channel, stream, payloadBytes }
}

function isFrameType(type: number): type is FrameType {
  return knownTypes.has(type)
}
