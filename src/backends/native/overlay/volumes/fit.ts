import { rm, truncate } from 'node:fs/promises'
import type { Native } from '../../native.ts'
import { ballastIn, isNearlyFull, measureRoom, type Room, surplusOf } from './room.ts'
import { isMounted } from './volume-file.ts'

/**
 * Makes the volume of files as large as the disk below it can bear. The volume is a sparse file: what it
 * cannot store would be an I/O error inside, and a file system that can no longer be written. A program that
 * finds it full gets ENOSPC instead.
 */
export async function fitFilesVolume(native: Native): Promise<void> {
  const { exclusively, places } = native
  if (!(await isMounted(places.files))) return
  const room = await measureRoom(places)
  if (surplusOf(room) !== 0) {
    await exclusively('volume', 'fitting the volume to the disk', async () => {
      if (await isMounted(places.files)) await adjust(native)
    })
  }
  if (isNearlyFull(room.host)) await backMetadata(native)
}

/** Without space for its metadata, the volume could not be written again before the next mount. */
async function backMetadata({ places, tools }: Native): Promise<void> {
  const { files, filesVolume } = places
  await tools.runCell('reserving space for a volume', ['back-metadata', files, filesVolume])
}

const worthReclaiming = 64 * 1024 ** 2

/** Frees what environments have deleted on a disk that needs it. The kernel does so, too, but after minutes. */
export async function giveBackDeleted(native: Native): Promise<void> {
  const { places, tools } = native
  if (!(await isMounted(places.files))) return
  const { host, reclaimable } = await measureRoom(places)
  if (!isNearlyFull(host) || reclaimable < worthReclaiming) return
  await tools.mustRun('giving free space back to the disk', 'fstrim', [places.files])
  await backMetadata(native)
}

/** Each step leaves a volume that fits at least as well. */
async function adjust(native: Native): Promise<void> {
  for (const step of [resize, holdFreeSpace]) {
    const room = await measureRoom(native.places)
    const surplus = surplusOf(room)
    if (surplus === 0) return
    await step(native, room, surplus)
  }
}

async function resize(
  native: Native,
  { size, capacity, ballast }: Room,
  surplus: number,
): Promise<void> {
  const { places, tools } = native
  const missing = surplus < 0 ? Math.max(0, -surplus - ballast) : -surplus
  const wanted = Math.min(capacity, size + missing)
  if (wanted === size) return
  await tools.runCell('resizing a volume', ['resize-files', places.files, String(wanted)])
}

/** What a resize cannot give up, because it is between used parts. */
async function holdFreeSpace(
  { places, tools }: Native,
  { ballast }: Room,
  surplus: number,
): Promise<void> {
  const file = ballastIn(places)
  const wanted = Math.max(0, ballast + surplus)
  if (wanted === 0) await rm(file, { force: true })
  else if (wanted < ballast) await truncate(file, wanted)
  else {
    const bytes = String(Math.floor(wanted))
    await tools.mustRun('holding free space of a volume', 'fallocate', ['--length', bytes, file])
  }
}
