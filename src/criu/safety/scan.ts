import type { Range, ReadRange } from './elf.ts'

const chunkSize = 4 * 1024 * 1024

/** Which of `needles` occur. */
export async function findAll(
  needles: readonly string[],
  ranges: readonly Range[],
  read: ReadRange,
): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  const wanted = new Map(needles.map((needle) => [needle, Buffer.from(needle, 'latin1')]))
  const overlap = Math.max(0, ...needles.map(({ length }) => length - 1))
  for await (const chunk of chunksOf(ranges, read, overlap)) {
    for (const [needle, bytes] of wanted) {
      if (!chunk.includes(bytes)) continue
      found.add(needle)
      wanted.delete(needle)
    }
    if (wanted.size === 0) break
  }
  return found
}

/** Consecutive parts of each range, each starting with the last `overlap` bytes of the one before. */
export async function* chunksOf(
  ranges: readonly Range[],
  read: ReadRange,
  overlap: number,
): AsyncGenerator<Buffer> {
  for (const { offset, length } of ranges) {
    for (let done = 0; done < length; done += chunkSize) {
      const before = Math.min(done, overlap)
      const size = Math.min(chunkSize, length - done) + before
      yield await read({ offset: offset + done - before, length: size })
    }
  }
}
