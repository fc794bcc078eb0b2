import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodeRecords, encodeRecord, RecordDecoder } from '../../../src/agent/wire/records.ts'
import { BackendError } from '../../../src/model/errors.ts'
import { cut, cuts } from './chunks.ts'

const records = fc.array(
  fc.record({ name: fc.stringMatching(/^[a-zé€]{0,300}$/), size: fc.nat(), type: fc.nat(3) }),
  { maxLength: 30 },
)

async function* each(chunks: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* chunks
}

async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

describe('records', () => {
  test('arrive the same however they were cut on the way', async () => {
    await fc.assert(
      fc.asyncProperty(records, cuts, async (sent, sizes) => {
        const bytes = Buffer.concat(sent.map(encodeRecord))
        const got = await collect(decodeRecords(each(cut(bytes, sizes))))
        expect(got).toEqual(sent)
      }),
    )
  })

  test('made of garbage decode or end in a protocol error', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 })), (chunks) => {
        const decoder = new RecordDecoder()
        try {
          for (const chunk of chunks) for (const _ of decoder.push(Buffer.from(chunk)));
        } catch (error) {
          expect(error).toBeInstanceOf(BackendError)
        }
      }),
    )
  })

  test('that claim more than the limit are refused immediately', () => {
    const prefix = Buffer.alloc(4)
    prefix.writeUInt32LE(65_537)
    expect(() => [...new RecordDecoder().push(prefix)]).toThrow(/65537/)
  })

  test('that are cut off at the end of a listing are a protocol error', async () => {
    const half = encodeRecord({ name: 'file' }).subarray(0, 7)
    await expect(collect(decodeRecords(each([half])))).rejects.toThrow(/cut off/)
  })
})
