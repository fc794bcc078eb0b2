import type { SnapshotId } from '../../model/ids.ts'
import type { LoggedCommand } from '../replay/logged-command.ts'

/** What both kinds of snapshots have. */
export interface ManagedSnapshotFacts {
  readonly name: string | null
  readonly message: string
  /** the snapshot that it continues from, whichever kind that is; null: the root */
  readonly parent: string | null
  /** milliseconds since 1970 */
  readonly createdAt: number
  /** what it takes on disk; null until its files are counted */
  readonly bytes: number | null
}

/** A snapshot that the backend took. */
export interface PhysicalSnapshot extends ManagedSnapshotFacts {
  readonly kind: 'physical'
  readonly id: SnapshotId
}

/** A snapshot that is only a list of commands, to be replayed after those of its parent. */
export interface VirtualSnapshot extends ManagedSnapshotFacts {
  readonly kind: 'virtual'
  readonly id: string
  readonly parent: string
  /** the physical snapshot that the replay begins at, which also holds this one's record */
  readonly on: SnapshotId
  readonly commands: readonly LoggedCommand[]
}

/** A node of a manager's tree. */
export type ManagedSnapshot = PhysicalSnapshot | VirtualSnapshot
