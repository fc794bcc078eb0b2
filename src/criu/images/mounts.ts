import type { DumpImages } from './dump-images.ts'
import { mntEntry } from './format/criu-messages.ts'
import { type Message, read } from './format/schema.ts'
import { unknownFormat } from './format/unknown-format.ts'

/** The mounts of a dump, in every namespace that it has. */
export function mountsOf(images: DumpImages): Message<typeof mntEntry>[] {
  return images
    .matching(/^mountpoints-\d+\.img$/)
    .flatMap((name) => images.image(name).entries)
    .map((entry) => read(mntEntry, entry))
}

/** The number of a mount, by its mountpoint inside. */
export function mountAt(images: DumpImages, mountpoint: string): number | undefined {
  return mountsOf(images).find((mount) => mount.mountpoint === mountpoint)?.mntId
}

const minorBits = 20

/** The device number of the files of a mount, by its mountpoint inside, as stat(2) returns it. */
export function deviceOf(images: DumpImages, mountpoint: string): number {
  const mount = mountsOf(images).find((one) => one.mountpoint === mountpoint)
  if (mount === undefined) throw unknownFormat('mountpoints', `it has no mount at ${mountpoint}`)
  const major = mount.rootDev >>> minorBits
  const minor = mount.rootDev & (2 ** minorBits - 1)
  return ((minor & 0xff) | (major << 8) | ((minor & ~0xff) << 12)) >>> 0
}
