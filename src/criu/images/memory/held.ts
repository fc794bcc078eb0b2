import { decodeAreas } from './areas.ts'
import { type Addresses, pageSize } from './pages.ts'
import { joinRanges, rangeWith } from './ranges.ts'

/** Room at the start of a buffer for the last two words that were searched before. */
export const leadBytes = 16

/** the upper half of an address at most */
const highest = 0x7fff
const lowestAddress = 65_536

/**
 * Finds mappings that objects hold: three words in a row, which are the address of a type, the address of
 * a mapping, and its length. Anything that looks like it counts, so none is missed; what is found by mistake
 * is only copied. It is shown all memory of a process, in order of addresses.
 */
export class HeldSearch {
  readonly #mappings: readonly Addresses[]
  readonly #found: Addresses[] = []

  /** `mm`: mm-PID.img of the process. */
  constructor(mm: Buffer) {
    // A mapping may have parts with different properties, so all areas count.
    this.#mappings = joinRanges(decodeAreas(mm).areas)
  }

  /** The bytes follow two words that were at the end of what was searched before, or zeros. */
  search(bytes: Buffer): void {
    const words = new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2)
    const end = words.length - 3
    for (let at = 2; at < end; at += 2) {
      const low = words[at] ?? 0
      if ((low & (pageSize - 1)) !== 0) continue
      const high = words[at + 1] ?? 0
      if (high > highest || (low === 0 && high === 0)) continue
      if (!isPointer(words[at - 2], words[at - 1])) continue
      this.#consider(numberOf(low, high), numberOf(words[at + 2], words[at + 3]))
    }
  }

  /** A thread may be about to store the address that a call has just returned. */
  returned(address: number): void {
    const range = address % pageSize === 0 ? rangeWith(this.#mappings, address) : undefined
    if (range) this.#found.push({ start: address, end: range.end })
  }

  /** In order of addresses. */
  get found(): Addresses[] {
    return joinRanges(this.#found)
  }

  #consider(start: number, length: number): void {
    const end = start + Math.ceil(length / pageSize) * pageSize
    const range = length > 0 ? rangeWith(this.#mappings, start) : undefined
    if (range && end <= range.end) this.#found.push({ start, end })
  }
}

function numberOf(low = 0, high = 0): number {
  return high * 2 ** 32 + low
}

function isPointer(low = 0, high = 0): boolean {
  return low % 8 === 0 && high <= highest && numberOf(low, high) >= lowestAddress
}
