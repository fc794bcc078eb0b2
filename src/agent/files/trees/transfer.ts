import { printable } from '../../failures.ts'
import type { CallOptions } from '../../wire/connection.ts'

/** The progress of a transfer. */
export interface TransferProgress {
  readonly files: number
  readonly directories: number
  readonly symlinks: number
  /** Bytes copied, without holes. */
  readonly bytes: number
}

export interface TransferSummary extends TransferProgress {
  /** Paths of sockets, pipes and devices, which are not copied: the first few. */
  readonly skipped: readonly string[]
}

export interface TransferOptions extends CallOptions {
  readonly onProgress?: ((progress: TransferProgress) => void) | undefined
}

/** Files in transit at a time: enough that no file waits for a round trip alone. */
export const FILES_IN_FLIGHT = 16
/** A run of zeros at least this long becomes a hole. */
export const HOLE_BYTES = 65_536

const MAX_SKIPPED_LISTED = 1000

/** Counts what a transfer does and reports it to the caller. */
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
