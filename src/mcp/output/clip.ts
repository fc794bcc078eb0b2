/** The first and the last bytes of something that may be long. What is between them is only counted. */
export class Clip {
  readonly #half: number
  readonly #head: Buffer[] = []
  #headBytes = 0
  #tail = Buffer.alloc(0)
  #bytes = 0

  constructor(limitBytes: number) {
    this.#half = Math.ceil(limitBytes / 2)
  }

  get bytes(): number {
    return this.#bytes
  }

  get leftOut(): number {
    return this.#bytes - this.#headBytes - Math.min(this.#tail.length, this.#half)
  }

  push(chunk: Buffer): void {
    this.#bytes += chunk.length
    const room = this.#half - this.#headBytes
    const first = chunk.subarray(0, Math.max(0, room))
    if (first.length > 0) {
      this.#head.push(first)
      this.#headBytes += first.length
    }
    const rest = chunk.subarray(first.length)
    if (rest.length === 0) return
    // Cut only now and then, so that many small chunks do not copy the tail each time.
    const joined = Buffer.concat([this.#tail, rest])
    this.#tail = joined.length > 4 * this.#half ? joined.subarray(-this.#half) : joined
  }

  /** `note` says between the two how much is left out, and how to get it. */
  text(note: (leftOut: number, offset: number) => string): string {
    const head = Buffer.concat(this.#head)
    const tail = this.#tail.subarray(-this.#half)
    if (this.leftOut === 0) return Buffer.concat([head, tail]).toString('utf8')
    const between = note(this.leftOut, this.#headBytes)
    return `${head.toString('utf8')}\n[${between}]\n${tail.toString('utf8')}`
  }
}

/** Bytes up to the last whole character of UTF-8, so that the next piece begins with one. */
export function wholeCharacters(bytes: Buffer): Buffer {
  const most = 4
  for (let back = 1; back <= Math.min(most, bytes.length); back++) {
    const byte = bytes[bytes.length - back] ?? 0
    if ((byte & 0b1100_0000) === 0b1000_0000) continue
    return lengthOf(byte) > back ? bytes.subarray(0, -back) : bytes
  }
  return bytes
}

/** How long a character is that begins with this byte. */
function lengthOf(first: number): number {
  if (first >= 0b1111_0000) return 4
  if (first >= 0b1110_0000) return 3
  return first >= 0b1100_0000 ? 2 : 1
}
