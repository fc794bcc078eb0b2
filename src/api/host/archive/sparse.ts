import { malformed } from './malformed.ts'

/** Bytes of a file and where they belong in it. */
export interface Run {
  readonly offset: number
  readonly bytes: Buffer
}

/** More than the engine lists for any file (native/cell/archive/extents.c). */
const mostExtents = 2 ** 19
const block = 512
const longestNumber = 16
const newline = 0x0a
const [zero, nine] = [0x30, 0x39]

/**
 * The content of a file with holes, in the sparse format 1.0 of GNU tar: a list of extents as text,
 * padded to whole blocks, and then the bytes of all extents.
 */
export async function* sparseRuns(
  chunks: AsyncIterable<Buffer>,
  sizeBytes: number,
): AsyncGenerator<Run> {
  const list = new ExtentList()
  const places = new Places(list, sizeBytes)
  for await (const chunk of chunks) {
    for (let rest = list.take(chunk); rest.length > 0; ) {
      const { offset, length } = places.next(rest.length)
      yield { offset, bytes: rest.subarray(0, length) }
      rest = rest.subarray(length)
    }
  }
  places.requireEnd()
}

/** The number of extents, then the start and length of each: one number per line. */
class ExtentList {
  readonly #numbers: number[] = []
  #digits = ''
  #read = 0

  get isComplete(): boolean {
    const [count] = this.#numbers
    return count !== undefined && this.#numbers.length === 1 + 2 * count
  }

  extent(at: number): { readonly start: number; readonly length: number } | undefined {
    const [start, length] = [this.#numbers[1 + 2 * at], this.#numbers[2 + 2 * at]]
    return start === undefined || length === undefined ? undefined : { start, length }
  }

  /** Reads the list, and returns the bytes that come after it. */
  take(chunk: Buffer): Buffer {
    let at = 0
    while (at < chunk.length && !(this.isComplete && this.#read % block === 0)) {
      if (!this.isComplete) this.#character(chunk.readUInt8(at))
      this.#read += 1
      at += 1
    }
    return chunk.subarray(at)
  }

  #character(code: number): void {
    if (code === newline && this.#digits !== '') {
      this.#numbers.push(Number(this.#digits))
      this.#digits = ''
      if ((this.#numbers[0] ?? 0) > mostExtents) throw malformed('a file has too many holes')
    } else if (code >= zero && code <= nine && this.#digits.length < longestNumber) {
      this.#digits += String.fromCharCode(code)
    } else {
      throw malformed('the list of holes of a file cannot be read')
    }
  }
}

/** Walks through the extents as their bytes arrive. */
class Places {
  readonly #list: ExtentList
  readonly #sizeBytes: number
  #at = 0
  #done = 0
  #end = 0

  constructor(list: ExtentList, sizeBytes: number) {
    this.#list = list
    this.#sizeBytes = sizeBytes
  }

  /** Where the next bytes belong, at most `most` of them. */
  next(most: number): { readonly offset: number; readonly length: number } {
    this.#passFull()
    const extent = this.#list.extent(this.#at)
    if (extent === undefined) throw malformed('a file with holes has more bytes than its list says')
    const offset = extent.start + this.#done
    const length = Math.min(most, extent.length - this.#done)
    this.#done += length
    return { offset, length }
  }

  requireEnd(): void {
    this.#passFull()
    if (this.#list.isComplete && this.#list.extent(this.#at) === undefined) return
    throw malformed('a file with holes ends early')
  }

  #passFull(): void {
    for (;;) {
      const extent = this.#list.extent(this.#at)
      if (extent === undefined) return
      const { start, length } = extent
      if (start < this.#end || start + length > this.#sizeBytes) {
        throw malformed('the parts of a file with holes overlap, or lie outside the file')
      }
      if (this.#done < length) return
      this.#end = start + length
      this.#at += 1
      this.#done = 0
    }
  }
}
