import { ResourceError } from '../model/errors.ts'
import type { AgentConnection, CallOptions } from './connection.ts'
import type { Attempt } from './failures.ts'
import type { Fields } from './fields.ts'
import { progressing } from './patience.ts'
import { decodeRecords } from './records.ts'

/** A listing longer than this is refused: it is held in memory, and its writer is not trusted. */
const MAX_LISTED = 1_000_000

/** The records of a listing as they come; the reader sets the pace. */
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
  for await (const record of eachRecord(connection, attempt, fields, options)) {
    if (all.length === MAX_LISTED) {
      throw new ResourceError(`cannot ${attempt.verb} ${attempt.subject}: too many entries`, {
        detail: { most: MAX_LISTED },
      })
    }
    all.push(parse(record))
  }
  return all
}
