import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { type EnvironmentId, isEnvironmentId, type SnapshotId } from '../../model/ids.ts'

/** Where the native backend keeps things under one home. */
export interface Places {
  readonly home: string
  /** eight hex digits that tell this home's cgroups and interfaces from another's */
  readonly key: string
  /** sparse file system image, where `data` cannot be a plain directory */
  readonly volume: string
  /** the environments' and layers' file system */
  readonly data: string
  readonly envs: string
  readonly layers: string
  /** everything of one environment */
  env(id: EnvironmentId): string
  /** one life of it: a swap makes the next slot while the one before is still there */
  slot(id: EnvironmentId, slot: number): EnvironmentPlaces
  /** CRIU's images and our manifest of a snapshot */
  snapshot(id: SnapshotId): string
  /** files that processes of a snapshot map their memory from */
  pages(id: SnapshotId): string
  /** the files that a snapshot sealed */
  sealed(id: SnapshotId): string
}

export interface EnvironmentPlaces {
  readonly dir: string
  readonly upper: string
  readonly work: string
  readonly run: string
  readonly stage: string
  /** what its processes map their memory from */
  readonly pages: string
  readonly socket: string
  /** what it was given of the network; there if it was given any */
  readonly net: string
}

export function placesOf(home: string): Places {
  const data = join(home, 'data')
  const envs = join(data, 'envs')
  return {
    home,
    key: createHash('sha256').update(home).digest('hex').slice(0, 8),
    volume: join(home, 'volume.ext4'),
    data,
    envs,
    layers: join(data, 'layers'),
    env: (id) => join(envs, id),
    slot: (id, slot) => environmentPlaces(join(envs, id, String(slot))),
    snapshot: (id) => join(data, 'snapshots', id),
    pages: (id) => join(data, 'snapshots', id, 'pages'),
    sealed: (id) => join(data, 'layers', id),
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
