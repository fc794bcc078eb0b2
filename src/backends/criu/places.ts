import { join } from 'node:path'
import type { EnvironmentId, SnapshotId } from '../../model/ids.ts'

/** Where everything of this backend is: below one directory of the home. */
export interface Places {
  readonly top: string
  readonly envs: string
  /** copies of the agent, by digest */
  readonly shared: string
  /** empty; inside, it is where the agent's socket is */
  readonly here: string
  /** of dumps and restores that failed */
  readonly logs: string
  readonly snapshots: string
  env(id: EnvironmentId): string
  life(id: EnvironmentId, slot: number): LifePlaces
  snapshot(id: SnapshotId): SnapshotPlaces
}

export interface LifePlaces {
  readonly dir: string
  /** its working directory; inside, it is mounted over the one that it was copied from */
  readonly files: string
  /** mounted at `here` inside */
  readonly run: string
  readonly socket: string
}

export interface SnapshotPlaces {
  readonly dir: string
  readonly images: string
  readonly files: string
  /** what CRIU runs while nothing inside does */
  readonly script: string
}

export function placesOf(home: string): Places {
  const top = join(home, 'criu')
  const envs = join(top, 'envs')
  const snapshots = join(top, 'snapshots')
  return {
    top,
    envs,
    shared: join(top, 'shared'),
    snapshots,
    here: join(top, 'here'),
    logs: join(home, 'logs', 'criu'),
    env: (id) => join(envs, id),
    life: (id, slot) => lifePlaces(join(envs, id, String(slot))),
    snapshot: (id) => snapshotPlaces(join(snapshots, id)),
  }
}

function lifePlaces(dir: string): LifePlaces {
  const run = join(dir, 'run')
  return { dir, files: join(dir, 'files'), run, socket: join(run, 'agent.sock') }
}

function snapshotPlaces(dir: string): SnapshotPlaces {
  return {
    dir,
    images: join(dir, 'images'),
    files: join(dir, 'files'),
    script: join(dir, 'copy-files'),
  }
}
