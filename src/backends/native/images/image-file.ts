/**
 * A CRIU image: one or two magic words, then entries of a length and a protobuf message. Since CRIU
 * 2.0 the first word is common to all images and the second says which one it is.
 */
export interface ImageFile {
  /** the magic words as they were */
  readonly head: Buffer
  readonly entries: readonly Buffer[]
}

const commonMagics = new Set([0x54564319, 0x55105940])
const word = 4

export function decodeImage(bytes: Buffer): ImageFile {
  const head = bytes.subarray(0, commonMagics.has(bytes.readUInt32LE(0)) ? 2 * word : word)
  const entries: Buffer[] = []
  for (let at = head.length; at < bytes.length; ) {
    const end = at + word + bytes.readUInt32LE(at)
    if (end > bytes.length) throw new RangeError(`an entry at byte ${at} ends beyond its image`)
    entries.push(bytes.subarray(at + word, end))
    at = end
  }
  return { head, entries }
}

export function encodeImage({ head, entries }: ImageFile): Buffer {
  const parts = entries.flatMap((entry) => {
    const length = Buffer.alloc(word)
    length.writeUInt32LE(entry.length)
    return [length, entry]
  })
  return Buffer.concat([head, ...parts])
}
