import { DumpImages } from '../../src/criu/images/dump-images.ts'
import type { ImageFile } from '../../src/criu/images/format/image-file.ts'

/** A dump that exists only in memory. */
export function dumpOf(images: Readonly<Record<string, ImageFile | Buffer>>): DumpImages {
  return new DumpImages('/nowhere', Object.keys(images)).with(images)
}
