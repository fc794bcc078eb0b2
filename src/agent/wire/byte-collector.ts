const SMALLEST_BYTES = 1024

/**
 * Collects bytes for one buffer. They are copied as they arrive: many small chunks, each of which may
 * be a slice of something larger, take no more memory than their bytes.
 */
export class ByteCollector {
  #buffer = Buffer.allocUnsafeSlow(SMALLEST_BYTES)
  #length = 0

  get length(): number {
    return this.#length
  }

  add(chunk: Buffer): void {
    const length = this.#length + chunk.length
    if (length > this.#buffer.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.#buffer.length))
      this.#buffer.copy(grown, 0, 0, this.#length)
      this.#buffer = grown
    }
    chunk.copy(this.#buffer, this.#length)
    this.#length = length
  }

  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length)
  }
}
