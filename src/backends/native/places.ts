import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { type EnvironmentId, isEnvironmentId, type SnapshotId } from '../../model/ids.ts'

/** Where the native backend keeps things under one home. */
export interface Places {
  readonly home: string
  /** eight hex digits that distinguish this home's cgroups and interfaces from those of others */
  readonly key: string
  /** CRIU's logs of what failed */
  readonly logs: string
  /** sparse file system image, for when `data` cannot be a plain directory */
  readonly volume: string
  /** file system of environments, layers and snapshots */
  readonly data: string
  /** sparse btrfs image for `files` */
  readonly filesVolume: string
  /** btrfs of what environments write: a subvolume for each life and each snapshot */
  readonly files: string
  readonly envs: string
  readonly layers: string
  /** container images, unpacked, and what is known about them */
  readonly images: string
  /** everything of one environment */
  env(id: EnvironmentId): string
  /** one life of it: a swap makes the next slot while the previous one still exists */
  slot(id: EnvironmentId, slot: number): EnvironmentPlaces
  /** CRIU's images and our manifest of a snapshot */
  snapshot(id: SnapshotId): string
  /** files that processes of a snapshot map their memory from */
  pages(id: SnapshotId): string
  /** the files that a snapshot sealed */
  sealed(id: SnapshotId): string
  /** the subvolume of one life of an environment */
  filesOf(id: EnvironmentId, slot: number): string
  /** the subvolume of a snapshot */
  filesIn(id: SnapshotId): string
}

export interface EnvironmentPlaces {
  readonly dir: string
  readonly upper: string
  readonly work: string
  readonly run: string
  readonly stage: string
  /** files that its processes map their memory from */
  readonly pages: string
  readonly socket: string
  /** file that describes its network link, if it has one */
  readonly net: string
}

export function placesOf(home: string): Places {
  const data = join(home, 'data')
  const envs = join(data, 'envs')
  const files = join(home, 'files')
  return {
    home,
    key: createHash('sha256').update(home).digest('hex').slice(0, 8),
    logs: join(home, 'logs'),
    volume: join(home, 'volume.ext4'),
    data,
    filesVolume: join(home, 'volume.btrfs'),
    files,
    envs,
    layers: join(data, 'layers'),
    images: join(data, 'images'),
    env: (id) => join(envs, id),
    slot: (id, slot) => environmentPlaces(join(envs, id, String(slot))),
    snapshot: (id) => join(data, 'snapshots', id),
    pages: (id) => join(data, 'snapshots', id, 'pages'),
    sealed: (id) => join(data, 'layers', id),
    filesOf: (id, slot) => join(files, cgroupName(id, slot)),
    filesIn: (id) => join(files, id),
  }
}

function environmentPlaces(dir: string): EnvironmentPlaces {
  const run = join(dir, 'run')
  return {
    dir,
    upper: join(dir, 'upper'),
    work: join(dir, 'work'),
    run,
    stage: join(dir, 'stage'),
    pages: join(dir, 'pages'),
    socket: join(run, 'agent.sock'),
    net: join(dir, 'net'),
  }
}

/** The cgroup of one life of an environment. */
export function cgroupName(id: EnvironmentId, slot: number): string {
  return `${id}-${slot}`
}

export function slotOfCgroup(name: string): { id: EnvironmentId; slot: number } | null {
  const [id = '', slot = ''] = name.split('-')
  return isEnvironmentId(id) && /^\d+$/.test(slot) ? { id, slot: Number(slot) } : null
}
