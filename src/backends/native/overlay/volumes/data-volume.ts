import { readFileSync, statfsSync, statSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { pathExists } from '../../../../linux/files/path-exists.ts'
import type { Tools } from '../../../../linux/tools.ts'
import type { Places } from '../../places.ts'
import { deviceUnder } from './mount-table.ts'
import { discardVolumeFile, formatVolume, mountVolume, type VolumeFile } from './volume-file.ts'

function volumeOf({ volume, data }: Places): VolumeFile {
  return {
    type: 'ext4',
    file: volume,
    mountPoint: data,
    // The journal takes up space from the start; the default for this size is 512 MiB.
    mkfs: ['-q', '-F', '-m', '0', '-J', 'size=64', '-E', 'lazy_itable_init=1,nodiscard'],
    // noinit_itable writes inode tables only when they are needed: zeroing them would fill the sparse file.
    mountOptions: 'noatime,discard,noinit_itable',
  }
}

/**
 * Opens the file system of layers and images, and of uppers that are plain directories. OverlayFS refuses
 * an upper or a layer below another of its layers, and the `host` source has `/` as its lowest one. So if
 * the home is on the root file system, the data live in a sparse ext4 file, which is loop mounted.
 */
export async function openDataVolume(
  tools: Tools,
  places: Places,
  { sizeBytes }: { readonly sizeBytes: number },
): Promise<void> {
  await mkdir(places.data, { recursive: true, mode: 0o700 })
  if (isSeparate(places.data)) return
  const volume = volumeOf(places)
  if (!(await pathExists(volume.file))) await formatVolume(tools, volume, sizeBytes)
  await mountVolume(tools, volume)
}

/** Whether the data can be used already. Only looks, so it needs no lease, unlike opening. */
export async function dataVolumeIsOpen(places: Places): Promise<boolean> {
  return (await pathExists(places.data)) && isSeparate(places.data)
}

/** Unmounts and removes the volume. No environment and no snapshot may be left. */
export async function discardDataVolume(tools: Tools, places: Places): Promise<void> {
  await discardVolumeFile(tools, volumeOf(places))
}

const btrfsType = 0x9123683e

/**
 * Whether this is another file system than that of `/`. Subvolumes of one btrfs are not, though their device
 * numbers differ. The table of mounts is long where many environments run, so it is read only for those.
 */
function isSeparate(data: string): boolean {
  if (statSync(data).dev === statSync('/').dev) return false
  if (statfsSync('/').type !== btrfsType) return true
  const table = readFileSync('/proc/self/mountinfo', 'utf8')
  return deviceUnder(table, data) !== deviceUnder(table, '/')
}
