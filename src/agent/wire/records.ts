import { protocolError } from '../failures.ts'
import { ByteQueue } from './byte-queue.ts'
import { decodeFields, encodeFields, type Fields } from './fields.ts'
import { MAX_RECORD_BYTES } from './wire.ts'

const PREFIX_BYTES = 4

/** A record is `u32 length, fields`; records follow each other and may span chunks. */
export class RecordDecoder {
  #bytes = new ByteQueue()
  #length: number | null = null

  /** True if no record is incomplete. */
  get isBetweenRecords(): boolean {
    return this.#length === null && this.#bytes.length === 0
  }

  *push(chunk: Buffer): Generator<Fields, void, undefined> {
    this.#bytes.push(chunk)
    for (;;) {
      if (this.#length === null) {
        if (this.#bytes.length < PREFIX_BYTES) return
        this.#length = readLength(this.#bytes.take(PREFIX_BYTES))
      }
      if (this.#bytes.length < this.#length) return
      const body = this.#bytes.take(this.#length)
      this.#length = null
      yield decodeFields(body)
    }
  }
}

function readLength(prefix: Buffer): number {
  const length = prefix.readUInt32LE(0)
  if (length > MAX_RECORD_BYTES) throw protocolError(`a record claims ${length} bytes`)
  return length
}

export async function* decodeRecords(chunks: AsyncIterable<Buffer>): AsyncGenerator<Fields> {
  const decoder = new RecordDecoder()
  for await (const chunk of chunks) yield* decoder.push(chunk)
  if (!decoder.isBetweenRecords) throw protocolError('a record is cut off')
}

export function encodeRecord(fields: Fields): Buffer {
  const body = encodeFields(fields)
  const prefix = Buffer.allocUnsafe(PREFIX_BYTES)
  prefix.writeUInt32LE(body.length)
  return Buffer.concat([prefix, body])
}
