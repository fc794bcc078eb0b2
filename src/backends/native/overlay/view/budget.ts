import { ResourceError } from '../../../../model/errors.ts'

const most = { entries: 1_000_000, bytes: 128 * 1024 ** 2 }

/** How much is kept of what a sandbox wrote: it may make entries, and names, without end. */
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
    if (this.#entries <= most.entries && this.#bytes <= most.bytes) return
    throw new ResourceError(
      `${this.#doing}: more than ${most.entries} entries, or ${most.bytes >> 20} MiB of paths`,
      { remedy: 'name paths inside to look at fewer', detail: most },
    )
  }
}
