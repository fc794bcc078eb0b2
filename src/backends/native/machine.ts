import { hasImages, sweepDrafts } from '../../images/cache.ts'
import { pathExists } from '../../linux/files/path-exists.ts'
import { killPoint } from '../../linux/kill-points.ts'
import type { Left, Machine } from '../facets.ts'
import { removeHomeCgroups } from './cell/cgroup.ts'
import { harden } from './cell/harden.ts'
import { freeAbandonedIds } from './cell/id-ranges.ts'
import { remnants } from './cell/lives.ts'
import { hasOwnIds } from './instance.ts'
import type { Native } from './native.ts'
import { removeNat } from './network/nat.ts'
import {
  dataVolumeIsOpen,
  discardDataVolume,
  openDataVolume,
} from './overlay/volumes/data-volume.ts'
import {
  discardFilesVolume,
  filesForNew,
  filesVolumeIsOpen,
  hasFilesVolume,
  openFilesVolume,
} from './overlay/volumes/files-volume.ts'
import { isMounted } from './overlay/volumes/volume-file.ts'
import { isRoot, requireRoot } from './prerequisites.ts'

/** The volume, network rules and cgroups that all cells of a home share. */
export function nativeMachine(native: Native): Machine {
  return {
    ready: async () => {
      // The snapshots of an ordinary user belong to other backends.
      if (!isRoot() && !(await pathExists(native.places.volume))) return
      requireRoot()
      await ensureVolumes(native)
    },
    harden: async () => {
      // Without root, we have no cells to harden.
      if (isRoot()) await harden(native)
    },
    isOutdated: ({ instance }) => !hasOwnIds(instance),
    freeUnused: async (left) => {
      if (isRoot()) await freeUnused(native, left)
    },
  }
}

/**
 * Opens the volumes for a new environment, and returns where it writes. Holds the lease, as `freeUnused`
 * does while it checks that the volumes are unused.
 */
export function openVolumesForNew(native: Native): Promise<'subvolume' | 'directory'> {
  const { exclusively, tools, places, settings } = native
  return exclusively('volume', 'opening the volume', async () => {
    await openDataVolume(tools, places, settings.volume)
    return await filesForNew(native)
  })
}

/** Where the next life of an environment on ext4 writes. Most of the time, this needs no lease. */
export async function filesForNext(native: Native): Promise<'subvolume' | 'directory'> {
  const { places, settings } = native
  if (settings.volume.kind === 'ext4') return 'directory'
  return (await isMounted(places.files)) ? 'subvolume' : await openVolumesForNew(native)
}

/** For an environment or snapshot with a record: its volumes exist, but may be unmounted after a reboot. */
export async function ensureVolumes(native: Native): Promise<void> {
  const { exclusively, tools, places, settings } = native
  if ((await dataVolumeIsOpen(places)) && (await filesVolumeIsOpen(places))) return
  await exclusively('volume', 'opening the volume', async () => {
    await openDataVolume(tools, places, settings.volume)
    if (await hasFilesVolume(places)) await openFilesVolume(tools, places, settings.volume)
  })
}

async function freeUnused(native: Native, left: () => Left): Promise<void> {
  const { exclusively, layout, nat, places, settings, tools, workers } = native
  await exclusively('volume', 'freeing the volume', async () => {
    // `create` writes its record before it opens the volume. Cells of `doctor` have no record.
    if (left() === 'environments' || (await remnants(native)).length > 0) return
    await exclusively('net', 'removing NAT', () => removeNat(tools, nat))
    killPoint('remove:nat')
    await removeHomeCgroups(layout, places.key)
    freeAbandonedIds()
    if (left() !== 'nothing') return
    // Images stay for the next environment, until somebody prunes them.
    if (await pathExists(places.volume)) await openDataVolume(tools, places, settings.volume)
    await sweepDrafts(tools, places)
    if (hasImages(places)) return
    workers.dismiss()
    // First the one that a cell of `doctor` keeps busy, if it has just begun: then both stay.
    await discardDataVolume(tools, places)
    await discardFilesVolume(tools, places)
  })
}
