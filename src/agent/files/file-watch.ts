import { protocolError } from '../failures.ts'
import type { AgentConnection, CallOptions } from '../wire/connection.ts'
import { type Fields, need } from '../wire/fields.ts'
import type { Patience } from '../wire/patience.ts'
import { decodeRecords } from '../wire/records.ts'
import { Op } from '../wire/wire.ts'
import { checkPath } from './files.ts'

export interface WatchOptions extends CallOptions {
  readonly recursive?: boolean
}

/** Every directory of a tree is visited before the watch is active. */
const patience: Patience = { until: 'begun', seconds: 120 }

const kinds = {
  1: 'created',
  2: 'modified',
  3: 'deleted',
  4: 'moved-from',
  5: 'moved-to',
  6: 'attributes',
  7: 'overflow',
} as const
export type WatchKind = (typeof kinds)[keyof typeof kinds]

export interface WatchEvent {
  readonly kind: WatchKind
  /** Relative to the watched path; empty for that path itself. */
  readonly path: string
  /** The same in both halves of a move. */
  readonly cookie: number
}

export interface FileWatch extends AsyncIterable<WatchEvent> {
  /** Ends the watch, and with it the iteration. */
  close(): void
}

/**
 * Watches a file or directory; resolves when the watch is active, so that no later change is missed.
 * If changes come faster than they are read, the watch reports an `overflow`; then look at the files again.
 */
export async function watchFiles(
  connection: AgentConnection,
  path: string,
  options: WatchOptions = {},
): Promise<FileWatch> {
  const active = Promise.withResolvers<void>()
  const request = { op: Op.fileWatch, path: checkPath(path), flags: options.recursive ? 1 : 0 }
  const stream = connection.open(request, {
    attempt: { verb: 'watch', subject: path },
    outputs: ['bytes'],
    onEvent: () => active.resolve(),
    signal: options.signal,
    patience,
  })
  stream.result.then(() => active.reject(protocolError('a watch that ended')), active.reject)
  await active.promise
  return {
    close: () => {
      stream.output().end()
      stream.cancel()
    },
    async *[Symbol.asyncIterator]() {
      try {
        for await (const record of decodeRecords(stream.output())) yield readEvent(record)
      } finally {
        stream.cancel()
      }
    },
  }
}

function readEvent(record: Fields): WatchEvent {
  const number = need(record, 'event')
  const kind = Object.entries(kinds).find(([key]) => Number(key) === number)?.[1]
  if (kind === undefined) throw protocolError(`watch event ${number}`)
  return { kind, path: record.path ?? '', cookie: record.cookie ?? 0 }
}
