import { join } from 'node:path'
import { pathExists } from '../linux/path-exists.ts'
import { link, mkdir, readdir, readFile, rename, writeFile } from '../linux/quick-fs.ts'
import { closeOutsideConnections } from './images/outside-connections.ts'

/** Where the images for copies are, when they differ from the original's. */
const copies = 'copies'

/** The one among them that does differ, from the snapshot. */
export const copiedFiles = join(copies, 'files.img')

/**
 * Images of the same processes for use in another place: their connections to outside are closed.
 * Only made where there is such a connection; all but one file are the same on disk.
 */
export async function makeCopyVariant(snapshot: string, images: string): Promise<void> {
  const files = closeOutsideConnections(await readFile(join(images, 'files.img')))
  if (files === null) return
  const draft = join(snapshot, `${copies}.new`)
  await mkdir(draft, { mode: 0o711 })
  for (const name of await readdir(images)) {
    if (name !== 'files.img') await link(join(images, name), join(draft, name))
  }
  await writeFile(join(draft, 'files.img'), files)
  await rename(draft, join(snapshot, copies))
}

export async function imagesFor(snapshot: string, role: 'successor' | 'copy'): Promise<string> {
  const original = join(snapshot, 'images')
  if (role === 'successor') return original
  const variant = join(snapshot, copies)
  return (await pathExists(variant)) ? variant : original
}
