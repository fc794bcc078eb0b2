import { mntEntry } from './criu-messages.ts'
import { decodeImage } from './image-file.ts'
import { read } from './schema.ts'

/** The number of a mount by where it is inside, from mountpoints-ID.img. */
export function mountAt(mountpoints: Buffer, mountpoint: string): number | undefined {
  return decodeImage(mountpoints)
    .entries.map((entry) => read(mntEntry, entry))
    .find((mount) => mount.mountpoint === mountpoint)?.mntId
}
