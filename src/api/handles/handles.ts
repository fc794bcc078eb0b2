import type { EnvironmentInfo } from '../contract/data/environment.ts'
import type { SnapshotInfo } from '../contract/data/snapshot.ts'
import type { Control } from '../control.ts'
import type { Connections } from './connections.ts'
import type { Environment } from './environment.ts'
import type { Snapshot } from './snapshot.ts'

/** What all handles share: how they reach Forkpoint, and how they make each other. */
export interface Handles {
  readonly control: Control
  readonly connections: Connections
  /** a directory of the caller where applies record what they are doing */
  readonly stateDir: string
  environment(info: EnvironmentInfo): Environment
  snapshot(info: SnapshotInfo): Snapshot
}
