import { printable } from '../failures.ts'
import type { CallOptions } from '../wire/connection.ts'

/** What a transfer has done so far. */
export interface TransferProgress {
  readonly files: number
  readonly directories: number
  readonly symlinks: number
  /** Bytes that were moved; holes are not. */
  readonly bytes: number
}

export interface TransferSummary extends TransferProgress {
  /** Sockets, pipes and devices, which stay where they are: the first of them, by path. */
  readonly skipped: readonly string[]
}

export interface TransferOptions extends CallOptions {
  readonly onProgress?: ((progress: TransferProgress) => void) | undefined
}

/** Files on their way at once: enough that a round trip is never waited for alone. */
export const FILES_IN_FLIGHT = 16
/** Zeros of at least this much are worth a hole. */
export const HOLE_BYTES = 65_536

const MAX_SKIPPED_LISTED = 1000

/** Counts what a transfer does and tells the caller. */
export class TransferLog {
  readonly #onProgress: TransferOptions['onProgress']
  readonly #counts = { files: 0, directories: 0, symlinks: 0, bytes: 0 }
  readonly #skipped: string[] = []

  constructor(options: TransferOptions) {
    this.#onProgress = options.onProgress
  }

  count(what: keyof TransferProgress, amount = 1): void {
    this.#counts[what] += amount
    this.#onProgress?.({ ...this.#counts })
  }

  skip(path: string): void {
    if (this.#skipped.length < MAX_SKIPPED_LISTED) this.#skipped.push(printable(path))
  }

  summary(): TransferSummary {
    return { ...this.#counts, skipped: this.#skipped }
  }
}
