import type { DumpImages } from './dump-images.ts'
import { mntEntry } from './format/criu-messages.ts'
import { type Message, read } from './format/schema.ts'

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
