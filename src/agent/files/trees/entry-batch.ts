import type { AgentConnection, CallOptions } from '../../wire/connection.ts'
import type { Fields } from '../../wire/fields.ts'
import { progressing } from '../../wire/patience.ts'
import { encodeRecord } from '../../wire/records.ts'
import type { AgentStream } from '../../wire/stream.ts'
import { Op } from '../../wire/wire.ts'

/** Records are collected up to this size: small ones would each take a frame of their own. */
const ENOUGH_BYTES = 65_536

/** What a record makes: the numbers of `type` in the protocol. */
export const EntryType = { file: 1, directory: 2, symlink: 3 } as const

/** How a file is written; `fresh`: in a tree that nobody else uses yet, without the detour over a temporary name. */
export const EntryFlag = { fresh: 8 } as const

/**
 * Small entries of a tree, sent over one stream in order. The agent answers once, at the end: with the first
 * failure, if there was one.
 */
export class EntryBatch {
  readonly #stream: AgentStream
  #records: Buffer[] = []
  #bytes = 0

  constructor(connection: AgentConnection, subject: string, { signal }: CallOptions) {
    const attempt = { verb: 'write', subject }
    const patience = progressing
    this.#stream = connection.open({ op: Op.treeWrite }, { attempt, signal, patience })
  }

  /** Resolves when there is room for more. */
  async add(entry: Fields): Promise<void> {
    const record = encodeRecord(entry)
    this.#records.push(record)
    this.#bytes += record.length
    if (this.#bytes >= ENOUGH_BYTES) await this.#flush()
  }

  /** Resolves when everything is in place. */
  async finish(): Promise<void> {
    await this.#flush()
    await this.#stream.endInput()
    await this.#stream.result
  }

  abandon(): void {
    this.#stream.cancel()
  }

  async #flush(): Promise<void> {
    const bytes = Buffer.concat(this.#records)
    this.#records = []
    this.#bytes = 0
    await this.#stream.send(bytes)
  }
}
