import { open, rename, rm, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathExists } from '../../../../linux/files/path-exists.ts'
import { stat } from '../../../../linux/files/quick-fs.ts'
import { killPoint } from '../../../../linux/kill-points.ts'
import { backingFiles } from '../../../../linux/mask/raw-files.ts'
import type { Tools } from '../../../../linux/tools.ts'
import { BackendError, ResourceError } from '../../../../model/errors.ts'
import { unmappedId } from '../../../../model/files/unmapped-id.ts'

/** A file system in a sparse file of the home. */
export interface VolumeFile {
  readonly type: 'ext4' | 'btrfs'
  readonly file: string
  readonly mountPoint: string
  readonly mkfs: readonly string[]
  readonly mountOptions: string
}

const smallestVolume = 256 * 1024 ** 2

const maxTries = 20
const pauseMs = 50

/** Only the holder of the volume's lease uses it, and overwrites what a killed process left. */
export function draftOf(path: string): string {
  return `${path}.new`
}

async function freeBytes(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory)
  return bavail * bsize
}

/**
 * Makes a draft and renames it, so that what a killed mkfs leaves is never mistaken for a volume. A
 * btrfs may be larger than the disk: it slows down where little of its nominal size is left.
 */
export async function formatVolume(
  tools: Tools,
  { type, file: path, mkfs }: VolumeFile,
  sizeBytes: number,
): Promise<void> {
  const free = await freeBytes(dirname(path))
  const size = type === 'btrfs' ? sizeBytes : Math.min(sizeBytes, Math.floor(free * 0.9))
  if (Math.min(size, free) < smallestVolume) {
    throw new ResourceError(`not enough space for a volume in ${dirname(path)}`, {
      remedy: 'free at least 300 MiB there, or set FORKPOINT_HOME to a larger disk',
    })
  }
  const draft = draftOf(path)
  try {
    const file = await open(draft, 'w', 0o600)
    // Some file systems do not support this owner; the home is closed, too.
    await file.chown(unmappedId, unmappedId).catch(() => {})
    await file.truncate(size)
    await file.close()
    await tools.mustRun(`formatting ${path}`, `mkfs.${type}`, [...mkfs, draft])
    killPoint('create:formatted')
    await rename(draft, path)
  } finally {
    await rm(draft, { force: true })
  }
}

export async function mountVolume(tools: Tools, volume: VolumeFile): Promise<void> {
  const { type, file, mountPoint, mountOptions } = volume
  const options = ['-t', type, '-o', `loop,${mountOptions}`]
  await tools.mustRun(`mounting ${file}`, 'mount', [...options, file, mountPoint])
  await bypassSecondCache(tools, file)
}

/**
 * Without direct I/O, the page cache holds the file a second time and writes it from there: a snapshot of
 * 2 GB took 6 s to become durable instead of 1. Some file systems cannot do direct I/O; then the cache
 * stays.
 */
async function bypassSecondCache(tools: Tools, file: string): Promise<void> {
  const found = await tools.run('losetup', ['--noheadings', '--output=NAME', '--associated', file])
  await tools.run('losetup', ['--direct-io=on', found.stdout.trim()])
}

/** Unmounts and removes a volume, if there is one. Nothing in it may be in use. */
export async function discardVolumeFile(
  tools: Tools,
  { file, mountPoint }: Pick<VolumeFile, 'file' | 'mountPoint'>,
): Promise<void> {
  if (await isMounted(mountPoint)) await unmount(tools, file, mountPoint)
  killPoint('remove:unmounted')
  await rm(draftOf(file), { force: true })
  await rm(file, { force: true })
  await rm(mountPoint, { recursive: true, force: true })
}

/** Whether something is mounted here: it then has another device than the directory above. */
export async function isMounted(mountPoint: string): Promise<boolean> {
  if (!(await pathExists(mountPoint))) return false
  return (await stat(mountPoint)).dev !== (await stat(dirname(mountPoint))).dev
}

async function unmount(tools: Tools, file: string, mountPoint: string): Promise<void> {
  let run = await tools.run('umount', [mountPoint])
  // A flush in another process may still be reading what was just removed.
  for (let tries = 0; run.exitCode !== 0 && tries < maxTries; tries += 1) {
    await sleep(pauseMs)
    run = await tools.run('umount', [mountPoint])
  }
  if (run.exitCode === 0) return waitForLoopDevice(file)
  throw new BackendError(`cannot unmount ${mountPoint}: ${run.stderr.trim()}`, {
    lastWords: run.stderr.trim(),
    remedy: `find the process that uses it with \`fuser -m ${mountPoint}\`, end it, and try again`,
  })
}

/** A worker that is just ending may keep the volume mounted, and its loop device in use, a little longer. */
async function waitForLoopDevice(file: string): Promise<void> {
  for (let tries = 0; backingFiles().includes(file) && tries < maxTries; tries += 1) {
    await sleep(pauseMs)
  }
}
