import { inventoryEntry } from './criu-messages.ts'
import type { ImageFile } from './image-file.ts'
import { read } from './schema.ts'
import { unknownFormat } from './unknown-format.ts'

/** Of every image since CRIU 2.0. */
const VERSION = 2

/** Throws unless inventory.img is from a dump that image surgery understands. */
export function refuseUnknownImages({ entries }: ImageFile): void {
  const [entry] = entries
  if (!entry) throw unknownFormat('inventory', 'it is empty')
  const { imgVersion } = read(inventoryEntry, entry)
  if (imgVersion !== VERSION) {
    throw unknownFormat('inventory', `its version is ${imgVersion}, not ${VERSION}`)
  }
}
