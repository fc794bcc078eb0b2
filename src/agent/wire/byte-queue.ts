/** Chunks go in at one end, byte counts come out at the other; copies only across chunks. */
export class ByteQueue {
  #chunks: Buffer[] = []
  #length = 0

  get length(): number {
    return this.#length
  }

  push(chunk: Buffer): void {
    if (chunk.length === 0) return
    this.#chunks.push(chunk)
    this.#length += chunk.length
  }

  /** The next `count` bytes, which must be available. */
  take(count: number): Buffer {
    if (count > this.#length) throw new RangeError(`${count} bytes wanted of ${this.#length}`)
    this.#length -= count
    const first = this.#chunks[0]
    if (first !== undefined && first.length > count) {
      this.#chunks[0] = first.subarray(count)
      return first.subarray(0, count)
    }
    if (first !== undefined && first.length === count) {
      this.#chunks.shift()
      return first
    }
    const all = Buffer.concat(this.#chunks)
    this.#chunks = all.length > count ? [all.subarray(count)] : []
    return all.subarray(0, count)
  }
}
