import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { EnvironmentId, SnapshotId } from '../../model/ids.ts'

/** Where everything of this backend is: below one directory of the home. */
export interface Places {
  readonly top: string
  /** what runsc knows about our sandboxes, and nobody else's */
  readonly run: string
  readonly envs: string
  /** copies of the agent, and masks, by digest: a snapshot needs the very files that it was taken with */
  readonly shared: string
  readonly snapshots: string
  /** container images, unpacked, and what is known about them */
  readonly images: string
  /** in the names of what engines keep for us */
  readonly key: string
  env(id: EnvironmentId): string
  life(id: EnvironmentId, slot: number): LifePlaces
  snapshot(id: SnapshotId): string
}

export interface LifePlaces {
  readonly dir: string
  /** the name that runsc knows it by */
  readonly container: string
  /** the OCI bundle */
  readonly bundle: string
  /** where its files are mounted, in a mount namespace of the sandbox's own */
  readonly root: string
  /** where a layer of our own is mounted there */
  readonly layer: string
  /** where runsc keeps what is written inside, if that is not memory */
  readonly writes: string
  /** what the environment should know about itself */
  readonly identity: string
  /** runsc's own words */
  readonly log: string
}

export function placesOf(home: string): Places {
  const top = join(home, 'gvisor')
  const envs = join(top, 'envs')
  const snapshots = join(top, 'snapshots')
  return {
    top,
    run: join(top, 'run'),
    envs,
    shared: join(top, 'shared'),
    snapshots,
    images: join(top, 'images'),
    key: createHash('sha256').update(`gvisor ${home}`).digest('hex').slice(0, 8),
    env: (id) => join(envs, id),
    life: (id, slot) => lifePlaces(join(envs, id, String(slot)), `${id}-${slot}`),
    snapshot: (id) => join(snapshots, id),
  }
}

function lifePlaces(dir: string, container: string): LifePlaces {
  return {
    dir,
    container,
    bundle: join(dir, 'bundle'),
    root: join(dir, 'root'),
    layer: join(dir, 'layer'),
    writes: join(dir, 'writes'),
    identity: join(dir, 'identity.json'),
    log: join(dir, 'runsc.log'),
  }
}
