import { join } from 'node:path'
import { link, mkdir, rename, writeFile } from '../linux/files/quick-fs.ts'
import type { DumpImages } from './images/dump-images.ts'
import { copyParents } from './tracking/parents.ts'

/** Writes the images that have changed back to their directory. */
export async function writeImages(images: DumpImages): Promise<DumpImages> {
  const { directory } = images
  for (const name of images.changed) await replaceImage(join(directory, name), images.bytes(name))
  return images.writtenTo(directory)
}

/** Writes all images to a new directory. Those that have not changed are linked. */
export async function copyImages(images: DumpImages, to: string): Promise<DumpImages> {
  await mkdir(to, { recursive: true, mode: imagesMode })
  const changed = new Set(images.changed)
  for (const name of images.names) {
    if (changed.has(name)) await writeFile(join(to, name), images.bytes(name))
    else await link(join(images.directory, name), join(to, name))
  }
  copyParents(images.directory, to)
  return images.writtenTo(to)
}

/** Of the directory, and of an image: during a restore, the environment's root reads some of them. */
export const imagesMode = 0o711
export const imageMode = 0o644

/** Replaces an image as a whole or not at all. Other links to the old one keep their content. */
export async function replaceImage(path: string, content: Buffer): Promise<void> {
  await writeFile(`${path}.new`, content)
  await rename(`${path}.new`, path)
}
