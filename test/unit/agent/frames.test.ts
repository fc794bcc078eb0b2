import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { encodeFrame, type Frame, FrameDecoder } from '../../../src/agent/wire/frames.ts'
import { FrameType, HEADER_BYTES, MAX_PAYLOAD_BYTES } from '../../../src/agent/wire/wire.ts'
import { BackendError } from '../../../src/model/errors.ts'
import { cut, cuts } from './chunks.ts'

const frames: fc.Arbitrary<Frame> = fc.record({
  type: fc.constantFrom(...Object.values(FrameType)),
  channel: fc.integer({ min: 0, max: 2 }),
  stream: fc.integer({ min: 0, max: 0xffff_ffff }),
  payload: fc.uint8Array({ maxLength: 5000 }).map((bytes) => Buffer.from(bytes)),
})

function decodeAll(chunks: readonly Buffer[]): Frame[] {
  const decoder = new FrameDecoder()
  return chunks.flatMap((chunk) => [...decoder.push(chunk)])
}

function header(length: number, type: number, channel: number, reserved: number): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES)
  bytes.writeUInt32LE(length, 0)
  bytes.writeUInt8(type, 4)
  bytes.writeUInt8(channel, 5)
  bytes.writeUInt16LE(reserved, 6)
  return bytes
}

describe('frames', () => {
  test('arrive the same however the bytes were cut on the way', () => {
    fc.assert(
      fc.property(fc.array(frames, { maxLength: 8 }), cuts, (sent, sizes) => {
        const bytes = Buffer.concat(sent.map(encodeFrame))
        expect(decodeAll(cut(bytes, sizes))).toEqual(sent)
      }),
    )
  })

  test('of the largest size arrive byte by byte', () => {
    const frame: Frame = {
      type: FrameType.data,
      channel: 1,
      stream: 7,
      payload: Buffer.alloc(MAX_PAYLOAD_BYTES, 'x'),
    }
    expect(decodeAll(cut(encodeFrame(frame), [1]))).toEqual([frame])
  })

  test('of garbage either decode or end in a protocol error, and hold no more than one frame', () => {
    const garbage = fc.uint8Array({ minLength: 1, maxLength: 4000 })
    fc.assert(
      fc.property(fc.array(garbage, { maxLength: 20 }), (chunks) => {
        const decoder = new FrameDecoder()
        try {
          for (const chunk of chunks) for (const _ of decoder.push(Buffer.from(chunk)));
        } catch (error) {
          expect(error).toBeInstanceOf(BackendError)
        }
        expect(decoder.heldBytes).toBeLessThan(HEADER_BYTES + MAX_PAYLOAD_BYTES + 4000)
      }),
    )
  })

  test.each([
    ['an absurd length', header(0xffff_ffff, FrameType.data, 1, 0), /4294967295 bytes/],
    ['a length just too long', header(MAX_PAYLOAD_BYTES + 1, FrameType.data, 1, 0), /131073/],
    ['an unknown type', header(0, 99, 0, 0), /type 99/],
    ['an unknown channel', header(0, FrameType.data, 3, 0), /channel 3/],
    ['flags it may not use', header(0, FrameType.data, 1, 5), /flags 5/],
  ])('with %s are refused before their payload arrives', (_, bytes, message) => {
    expect(() => decodeAll([bytes])).toThrow(message)
  })

  test('longer than the limit are never sent', () => {
    const payload = Buffer.alloc(MAX_PAYLOAD_BYTES + 1)
    expect(() => encodeFrame({ type: 3, channel: 0, stream: 1, payload })).toThrow(RangeError)
  })
})
