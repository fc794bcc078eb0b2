import { mkdir, open, rename, rm, statfs } from 'node:fs/promises'
import { dirname } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { killPoint } from '../../../linux/kill-points.ts'
import { pathExists } from '../../../linux/path-exists.ts'
import { stat } from '../../../linux/quick-fs.ts'
import { mustRun, runTool } from '../../../linux/run-tool.ts'
import { BackendError, ResourceError } from '../../../model/errors.ts'
import { unmappedId } from '../../../model/unmapped-id.ts'
import type { Places } from '../places.ts'
import { backingFiles } from './raw-files.ts'

const smallestVolume = 256 * 1024 ** 2

const mostTries = 20
const pauseMs = 50

/**
 * The file system of uppers and layers. OverlayFS refuses an upper that lies below its own lower
 * layer, and the `host` source has `/` as its lower layer; so where the home is on the root file
 * system, the data live in a sparse ext4 file, loop mounted.
 */
export async function openVolume(
  places: Places,
  { sizeBytes }: { sizeBytes: number },
): Promise<void> {
  await mkdir(places.data, { recursive: true, mode: 0o700 })
  if (await isSeparate(places.data)) return
  if (!(await pathExists(places.volume))) await formatVolume(places.volume, sizeBytes)
  await mustRun(`mounting ${places.volume}`, 'mount', [
    // Inode tables are written when they are needed: zeroing them ahead would fill the sparse file.
    ...['-t', 'ext4', '-o', 'loop,noatime,discard,noinit_itable'],
    places.volume,
    places.data,
  ])
  await bypassSecondCache(places)
}

/**
 * Otherwise the pages of the file are in memory a second time, and are written from there: a snapshot
 * of 2 GB took 6 s to become durable instead of 1. Not every file system below can do without; then
 * it stays as it is.
 */
async function bypassSecondCache({ volume }: Places): Promise<void> {
  const found = await runTool('losetup', ['--noheadings', '--output=NAME', '--associated', volume])
  await runTool('losetup', ['--direct-io=on', found.stdout.trim()])
}

/** Whether the data can be used as they are; a look, without the lease that opening needs. */
export async function volumeIsOpen(places: Places): Promise<boolean> {
  return (await pathExists(places.data)) && (await isSeparate(places.data))
}

/** Unmounts and removes the volume; only when no environment and no snapshot is left. */
export async function discardVolume(places: Places): Promise<void> {
  await closeVolume(places)
  killPoint('remove:unmounted')
  await rm(draftOf(places.volume), { force: true })
  await rm(places.volume, { force: true })
  await rm(places.data, { recursive: true, force: true })
}

async function closeVolume(places: Places): Promise<void> {
  if (!(await pathExists(places.data)) || !(await isMounted(places))) return
  let run = await runTool('umount', [places.data])
  // A flush of another process may be reading what was removed a moment ago.
  for (let tries = 0; run.exitCode !== 0 && tries < mostTries; tries += 1) {
    await sleep(pauseMs)
    run = await runTool('umount', [places.data])
  }
  if (run.exitCode === 0) return deviceFreed(places)
  throw new BackendError(`cannot unmount ${places.data}: ${run.stderr.trim()}`, {
    lastWords: run.stderr.trim(),
    remedy: `see which process uses it with \`fuser -m ${places.data}\`, end it and try again`,
  })
}

/** A worker that is just ending may have it mounted for a moment longer, and with it the loop device. */
async function deviceFreed({ volume }: Places): Promise<void> {
  for (let tries = 0; backingFiles().includes(volume) && tries < mostTries; tries += 1) {
    await sleep(pauseMs)
  }
}

/** One at a time, under the lease of the volume; what a killed one left is written over. */
function draftOf(path: string): string {
  return `${path}.new`
}

/** Made beside its place and renamed, so that a killed mkfs is never mistaken for a volume. */
async function formatVolume(path: string, sizeBytes: number): Promise<void> {
  const free = await statfs(dirname(path))
  const size = Math.min(sizeBytes, Math.floor((free.bavail * free.bsize * 9) / 10))
  if (size < smallestVolume) {
    throw new ResourceError(`not enough space for a volume in ${dirname(path)}`, {
      remedy: 'free at least 300 MiB there, or set FORKPOINT_HOME to a larger disk',
    })
  }
  const draft = draftOf(path)
  try {
    const file = await open(draft, 'w', 0o600)
    // Not every file system takes such an owner; the home is closed as well.
    await file.chown(unmappedId, unmappedId).catch(() => {})
    await file.truncate(size)
    await file.close()
    await mustRun(`formatting ${path}`, 'mkfs.ext4', [
      // The journal is allocated at once; the default for this size is 512 MiB.
      ...['-q', '-F', '-m', '0', '-J', 'size=64', '-E', 'lazy_itable_init=1,nodiscard', draft],
    ])
    killPoint('create:formatted')
    await rename(draft, path)
  } finally {
    await rm(draft, { force: true })
  }
}

async function isMounted(places: Places): Promise<boolean> {
  return (await stat(places.data)).dev !== (await stat(places.home)).dev
}

async function isSeparate(data: string): Promise<boolean> {
  return (await stat(data)).dev !== (await stat('/')).dev
}
