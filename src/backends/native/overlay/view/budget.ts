import { ResourceError } from '../../../../model/errors.ts'

const max = { entries: 1_000_000, bytes: 128 * 1024 ** 2 }

/** Limits how many paths are kept in memory: a sandbox can make entries and long names without end. */
export class Budget {
  readonly #doing: string
  #entries = 0
  #bytes = 0

  constructor(doing: string) {
    this.#doing = doing
  }

  spend(path: string): void {
    this.#entries += 1
    this.#bytes += path.length
    if (this.#entries <= max.entries && this.#bytes <= max.bytes) return
    throw new ResourceError(
      `${this.#doing}: more than ${max.entries} entries or ${max.bytes >> 20} MiB of paths`,
      { remedy: 'name paths inside, to look at fewer entries', detail: max },
    )
  }
}
