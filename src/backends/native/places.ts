import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { EnvironmentId } from '../../model/ids.ts'

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
  env(id: EnvironmentId): EnvironmentPlaces
}

export interface EnvironmentPlaces {
  readonly dir: string
  readonly upper: string
  readonly work: string
  readonly run: string
  readonly stage: string
  readonly socket: string
  /** there if it was given a network */
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
    env: (id) => environmentPlaces(join(envs, id)),
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
    socket: join(run, 'agent.sock'),
    net: join(dir, 'net'),
  }
}
