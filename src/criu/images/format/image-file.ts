import { unknownFormat } from './unknown-format.ts'

/**
 * A CRIU image: one or two magic words, then entries of a length and a protobuf message. Since CRIU
 * 2.0 the first word is common to all images and the second says which one it is.
 */
export interface ImageFile {
  /** the magic words as they were */
  readonly head: Buffer
  readonly entries: readonly Uint8Array[]
}

const commonMagics = new Set([0x54564319, 0x55105940])
const word = 4

/** Only for images that hold nothing but messages; queued data and ghost files have raw bytes, too. */
export function decodeImage(bytes: Buffer): ImageFile {
  const entries = entryRanges(bytes).map(({ start, end }) => bytes.subarray(start, end))
  return { head: headOf(bytes), entries }
}

/** Also for images that continue with raw bytes. */
export function firstEntry(bytes: Buffer): Uint8Array {
  const start = headOf(bytes).length + word
  const end = start > bytes.length ? Number.NaN : start + bytes.readUInt32LE(start - word)
  if (!(end <= bytes.length)) throw unknownFormat('image', `it has ${bytes.length} bytes`)
  return bytes.subarray(start, end)
}

function headOf(bytes: Buffer): Buffer {
  if (bytes.length < word) throw unknownFormat('image', `it has ${bytes.length} bytes`)
  return bytes.subarray(0, commonMagics.has(bytes.readUInt32LE(0)) ? 2 * word : word)
}

/** Where the messages of an image are. */
export function entryRanges(bytes: Buffer): { readonly start: number; readonly end: number }[] {
  const ranges: { start: number; end: number }[] = []
  for (let at = headOf(bytes).length; at < bytes.length; ) {
    const start = at + word
    const end = start > bytes.length ? Number.NaN : start + bytes.readUInt32LE(at)
    if (!(end <= bytes.length)) {
      throw unknownFormat('image', `an entry at byte ${at} ends beyond its ${bytes.length} bytes`)
    }
    ranges.push({ start, end })
    at = end
  }
  return ranges
}

/** Replaces entries; returns the same image if none differs. */
export function mapEntries(image: ImageFile, change: (entry: Uint8Array) => Uint8Array): ImageFile {
  const entries = image.entries.map(change)
  const isSame = entries.every((entry, index) => entry === image.entries[index])
  return isSame ? image : { head: image.head, entries }
}

export function encodeImage({ head, entries }: ImageFile): Buffer {
  const lengths = entries.reduce((sum, { length }) => sum + word + length, 0)
  const image = Buffer.allocUnsafe(head.length + lengths)
  let at = head.copy(image)
  for (const entry of entries) {
    at = image.writeUInt32LE(entry.length, at)
    image.set(entry, at)
    at += entry.length
  }
  return image
}
