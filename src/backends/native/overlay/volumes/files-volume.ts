import { readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { pathExists } from '../../../../linux/files/path-exists.ts'
import type { Tools } from '../../../../linux/tools.ts'
import type { Native } from '../../native.ts'
import type { Places } from '../../places.ts'
import {
  discardVolumeFile,
  formatVolume,
  isMounted,
  mountVolume,
  type VolumeFile,
} from './volume-file.ts'

function volumeOf({ filesVolume, files }: Places): VolumeFile {
  return {
    type: 'btrfs',
    file: filesVolume,
    mountPoint: files,
    mkfs: ['-q', '-f', '-K', '-m', 'single'],
    mountOptions: 'noatime,discard=async',
  }
}

/**
 * A smaller volume keeps data and metadata together. Otherwise data may take all of it, and then not even
 * deleting files makes room for metadata again (measured with 1 GiB).
 */
const smallBytes = 4 * 1024 ** 3

/** Whether the volume exists: then there may be environments and snapshots in it. */
export function hasFilesVolume({ filesVolume }: Places): Promise<boolean> {
  return pathExists(filesVolume)
}

/** Whether the files of environments can be used already. */
export async function filesVolumeIsOpen(places: Places): Promise<boolean> {
  return !(await hasFilesVolume(places)) || (await isMounted(places.files))
}

/** Mounts the volume, and makes it first if there is none. The caller holds the lease. */
export async function openFilesVolume(
  tools: Tools,
  places: Places,
  { sizeBytes }: { readonly sizeBytes: number },
): Promise<void> {
  await mkdir(places.files, { recursive: true, mode: 0o700 })
  if (await isMounted(places.files)) return
  const volume = volumeOf(places)
  if (!(await hasFilesVolume(places))) {
    const mkfs = sizeBytes < smallBytes ? [...volume.mkfs, '--mixed'] : volume.mkfs
    await formatVolume(tools, { ...volume, mkfs }, sizeBytes)
  }
  await mountVolume(tools, volume)
}

export async function discardFilesVolume(tools: Tools, places: Places): Promise<void> {
  await discardVolumeFile(tools, volumeOf(places))
}

/** Why new environments cannot have subvolumes on this machine; null if they can. */
export async function whyNoSubvolumes(tools: Tools): Promise<string | null> {
  if (!(await knowsBtrfs(tools))) return 'this kernel has no btrfs'
  const { exitCode } = await tools.run('sh', ['-c', 'command -v mkfs.btrfs'])
  return exitCode === 0 ? null : 'mkfs.btrfs is not installed'
}

async function knowsBtrfs(tools: Tools): Promise<boolean> {
  const isListed = () => readFileSync('/proc/filesystems', 'utf8').includes('\tbtrfs\n')
  if (isListed()) return true
  // Without modprobe it cannot be loaded, and then the kernel has none.
  await tools.run('modprobe', ['btrfs']).catch(() => null)
  return isListed()
}

/** Where a new environment writes, as the setting `volume` and this machine allow. */
export async function filesForNew(native: Native): Promise<'subvolume' | 'directory'> {
  const { log, places, settings, tools } = native
  const { kind } = settings.volume
  if (kind === 'ext4') return 'directory'
  if (await isMounted(places.files)) return 'subvolume'
  const why = kind === 'btrfs' ? null : await whyNoSubvolumes(tools)
  if (why !== null) {
    log.info({ why }, 'environments write to ext4, and snapshots replace their processes')
    return 'directory'
  }
  try {
    await openFilesVolume(tools, places, settings.volume)
    return 'subvolume'
  } catch (err) {
    if (kind === 'btrfs' || (await hasFilesVolume(places))) throw err
    log.warn({ err }, 'environments write to ext4, because a btrfs volume could not be made')
    return 'directory'
  }
}
