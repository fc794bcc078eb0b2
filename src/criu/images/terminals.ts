import type { DumpImages } from './dump-images.ts'
import { ttyInfoEntry } from './format/criu-messages.ts'
import { read } from './format/schema.ts'

const terminalsImage = 'tty-info.img'

/**
 * Lists the side that shows a terminal before the other one. CRIU joins each terminal with the next that has its
 * number: two descriptors of the same side, if the other one comes last, and then what was typed is lost.
 */
export function withMastersFirst(images: DumpImages): DumpImages {
  if (!images.has(terminalsImage)) return images
  const image = images.image(terminalsImage)
  // CRIU numbers both sides of a terminal one after the other.
  const isMaster = (entry: Uint8Array) => read(ttyInfoEntry, entry).id % 2 === 1
  const entries = [
    ...image.entries.filter(isMaster),
    ...image.entries.filter((entry) => !isMaster(entry)),
  ]
  return images.with({ [terminalsImage]: { ...image, entries } })
}
