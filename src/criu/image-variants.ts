import { join } from 'node:path'
import { pathExists } from '../linux/files/path-exists.ts'
import { rename } from '../linux/files/quick-fs.ts'
import type { DumpImages } from './images/dump-images.ts'
import { closeOutsideConnections } from './images/tcp/outside-connections.ts'
import { copyImages } from './write-images.ts'

/** The directory of the images for copies, if they differ from the original's. */
const copies = 'copies'

/** The one image that differs, as a path from the snapshot. */
export const copiedFiles = join(copies, 'files.img')

/**
 * Makes images of the same processes for use elsewhere, with their connections to the outside closed.
 * Does nothing if there is no such connection. All files except one are the same on disk.
 */
export async function makeCopyVariant(snapshot: string, images: DumpImages): Promise<void> {
  const closed = images.with({ 'files.img': closeOutsideConnections(images.files) })
  if (closed === images) return
  const draft = join(snapshot, `${copies}.new`)
  await copyImages(closed, draft)
  await rename(draft, join(snapshot, copies))
}

/** `open`: connections to the outside continue. */
export async function imagesFor(snapshot: string, outside: 'open' | 'closed'): Promise<string> {
  const original = join(snapshot, 'images')
  if (outside === 'open') return original
  const variant = join(snapshot, copies)
  return (await pathExists(variant)) ? variant : original
}
