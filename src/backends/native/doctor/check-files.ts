import { statSync } from 'node:fs'
import { ifExists } from '../../../linux/files/if-exists.ts'
import { namesIn } from '../../../linux/files/names-in.ts'
import { isEnvironmentId, isSnapshotId } from '../../../model/ids.ts'
import { formatBytes } from '../../../model/values/quantities.ts'
import type { Native } from '../native.ts'
import { whyNoSubvolumes } from '../overlay/volumes/files-volume.ts'
import { hostRoom, isNearlyFull } from '../overlay/volumes/room.ts'
import type { Places } from '../places.ts'
import type { Finding } from './finding.ts'
import type { Machine, ProbeCell } from './probe.ts'

/** In a smaller btrfs, whoever makes many files waits for space for metadata: half as fast (measured). */
const quickBytes = 40e9

/** Where new environments write, according to one that was just made. */
export async function checkFiles(
  { native }: Machine,
  { id, instance }: ProbeCell,
): Promise<Finding> {
  if (instance.files === undefined) return await onlyExt4(native)
  const { size, blocks } = statSync(native.places.filesVolume)
  const host = await hostRoom(native.places)
  const found = `btrfs, nominally ${formatBytes(size)}, ${formatBytes(blocks * 512)} on disk`
  const warn = (what: string, remedy: string): Finding => ({
    status: 'warn',
    found: `${found}; ${what}`,
    remedy,
  })
  if (isNearlyFull(host) && size - blocks * 512 > host.free) {
    const what = `environments can write only what the disk has left, ${formatBytes(host.free)}`
    return warn(what, 'free space on the disk of the home, or set FORKPOINT_HOME elsewhere')
  }
  if (size < quickBytes) {
    const remedy = 'set volume.size to 40g or more, on a disk with that much free, for a new home'
    return warn('small volumes are slow when many files are made', remedy)
  }
  const old = oldOnes(native.places, id)
  if (old === null) return found
  return warn(
    `${old} still on ext4, where a snapshot replaces processes`,
    'restore, fork or snapshot them: the life that begins then writes to btrfs',
  )
}

async function onlyExt4({ settings, tools }: Native): Promise<Finding> {
  const disturbs = 'a snapshot replaces processes, which some programs notice'
  const because = (why: string, remedy: string): Finding => ({
    status: 'warn',
    found: `ext4, because ${why}: ${disturbs}`,
    remedy,
  })
  if (settings.volume.kind === 'ext4') {
    return because('the setting volume says so', 'set volume to auto')
  }
  const why = await whyNoSubvolumes(tools)
  if (why === null) {
    return because(
      'a btrfs volume could not be made',
      'set volume to btrfs; then `forkpoint create` says why',
    )
  }
  const remedy =
    'run `forkpoint doctor --fix`, which installs btrfs-progs; btrfs also needs a kernel with it'
  return because(why, remedy)
}

/** What a home has from before it had a btrfs volume; null if nothing. */
function oldOnes(places: Places, probe: string): string | null {
  const environments = namesIn(places.envs).filter(
    (id) => id !== probe && isEnvironmentId(id) && hasUpper(places, id),
  ).length
  const snapshots = namesIn(places.layers).filter(isSnapshotId).length
  if (environments + snapshots === 0) return null
  return `${counted(environments, 'environment')} and ${counted(snapshots, 'snapshot')}`
}

function hasUpper(places: Places, id: Parameters<Places['env']>[0]): boolean {
  return namesIn(places.env(id)).some(
    (slot) => ifExists(() => statSync(places.slot(id, Number(slot)).upper)) !== null,
  )
}

function counted(count: number, what: string): string {
  return count === 1 ? `1 ${what}` : `${count} ${what}s`
}
