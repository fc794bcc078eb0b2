/**
 * A protobuf message as its fields in the order they came, each with its bytes as they were: what is
 * not changed is written back the same to the byte, whatever CRIU's version put there.
 */
export interface Field {
  readonly number: number
  readonly wireType: number
  /** tag and value as encoded */
  readonly encoded: Buffer
  /** the value: a varint's number, or the bytes of anything else */
  readonly value: bigint | Buffer
}

export type Message = readonly Field[]

const VARINT = 0
const FIXED64 = 1
const BYTES = 2
const FIXED32 = 5

export function decodeMessage(bytes: Buffer): Message {
  const fields: Field[] = []
  for (let at = 0; at < bytes.length; ) {
    const start = at
    const tag = readVarint(bytes, at)
    const { value, end } = readValue(bytes, tag.end, Number(tag.value & 7n))
    fields.push({
      number: Number(tag.value >> 3n),
      wireType: Number(tag.value & 7n),
      encoded: bytes.subarray(start, end),
      value,
    })
    at = end
  }
  return fields
}

export function encodeMessage(message: Message): Buffer {
  return Buffer.concat(message.map(({ encoded }) => encoded))
}

export function varintField(number: number, value: bigint): Field {
  const tag = encodeVarint((BigInt(number) << 3n) | BigInt(VARINT))
  const encoded = Buffer.concat([tag, encodeVarint(value)])
  return { number, wireType: VARINT, encoded, value }
}

export function bytesField(number: number, value: Buffer): Field {
  const tag = encodeVarint((BigInt(number) << 3n) | BigInt(BYTES))
  const encoded = Buffer.concat([tag, encodeVarint(BigInt(value.length)), value])
  return { number, wireType: BYTES, encoded, value }
}

/** The number of a varint field; undefined if the message does not have it. */
export function numberOf(message: Message, number: number): number | undefined {
  const value = message.find((field) => field.number === number)?.value
  return typeof value === 'bigint' ? Number(value) : undefined
}

/** The numbers of a repeated varint field, packed or not. */
export function numbersOf(message: Message, number: number): number[] {
  return message
    .filter((field) => field.number === number)
    .flatMap(({ value }) => (typeof value === 'bigint' ? [Number(value)] : unpack(value)))
}

function unpack(bytes: Buffer): number[] {
  const numbers: number[] = []
  for (let at = 0; at < bytes.length; ) {
    const { value, end } = readVarint(bytes, at)
    numbers.push(Number(value))
    at = end
  }
  return numbers
}

function readValue(
  bytes: Buffer,
  at: number,
  wireType: number,
): { value: bigint | Buffer; end: number } {
  switch (wireType) {
    case VARINT:
      return readVarint(bytes, at)
    case FIXED64:
      return slice(bytes, at, 8)
    case FIXED32:
      return slice(bytes, at, 4)
    case BYTES: {
      const length = readVarint(bytes, at)
      return slice(bytes, length.end, Number(length.value))
    }
    default:
      throw new RangeError(`protobuf wire type ${wireType} at byte ${at}`)
  }
}

function slice(bytes: Buffer, at: number, length: number): { value: Buffer; end: number } {
  const end = at + length
  if (end > bytes.length) throw new RangeError(`a field of ${length} bytes ends beyond its message`)
  return { value: bytes.subarray(at, end), end }
}

function readVarint(bytes: Buffer, start: number): { value: bigint; end: number } {
  let value = 0n
  for (let at = start; at < start + 10; at += 1) {
    const byte = bytes[at]
    if (byte === undefined) break
    value |= BigInt(byte & 0x7f) << BigInt(7 * (at - start))
    if (byte < 0x80) return { value, end: at + 1 }
  }
  throw new RangeError(`an unfinished number at byte ${start}`)
}

function encodeVarint(value: bigint): Buffer {
  const bytes: number[] = []
  let rest = value
  do {
    const more = rest > 0x7fn ? 0x80 : 0
    bytes.push(Number(rest & 0x7fn) | more)
    rest >>= 7n
  } while (rest > 0n)
  return Buffer.from(bytes)
}
