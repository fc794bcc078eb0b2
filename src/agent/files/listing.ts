import { ResourceError } from '../../model/errors.ts'
import { type Attempt, printable } from '../failures.ts'
import type { AgentConnection, CallOptions } from '../wire/connection.ts'
import type { Fields } from '../wire/fields.ts'
import { progressing } from '../wire/patience.ts'
import { decodeRecords } from '../wire/records.ts'

/**
 * A longer listing is refused: it is kept in memory, and its writer is not trusted. The
 * entries of this many files take about 100 MB (measured).
 */
const MAX_LISTED = 250_000
const MAX_LISTED_BYTES = 32 * 1024 * 1024

/** The records of a listing as they arrive; the reader sets the pace. */
export async function* eachRecord(
  connection: AgentConnection,
  attempt: Attempt,
  fields: Fields,
  options: CallOptions = {},
): AsyncGenerator<Fields, void, undefined> {
  const { signal } = options
  const patience = progressing
  const stream = connection.open(fields, { attempt, outputs: ['bytes'], signal, patience })
  try {
    yield* decodeRecords(stream.output())
    await stream.result
  } finally {
    stream.cancel()
  }
}

/** All records of a listing, read by `parse`. */
export async function listRecords<T>(
  connection: AgentConnection,
  attempt: Attempt,
  fields: Fields,
  parse: (record: Fields) => T,
  options: CallOptions = {},
): Promise<T[]> {
  const all: T[] = []
  let bytes = 0
  for await (const record of eachRecord(connection, attempt, fields, options)) {
    bytes += textBytes(record)
    if (all.length === MAX_LISTED || bytes > MAX_LISTED_BYTES) throw tooLong(attempt)
    all.push(parse(record))
  }
  return all
}

/** The size of a record's strings, at two bytes per character. */
function textBytes(record: Fields): number {
  return Object.values(record).reduce(
    (sum: number, value) => sum + (typeof value === 'string' ? 2 * value.length : 0),
    0,
  )
}

function tooLong({ verb, subject }: Attempt): ResourceError {
  return new ResourceError(`cannot ${verb} ${printable(subject)}: too many entries`, {
    remedy: 'list them with a command inside, and read its output as a stream',
    detail: { maxEntries: MAX_LISTED, maxBytes: MAX_LISTED_BYTES },
  })
}
