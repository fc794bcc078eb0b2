import type { BackendName, Json } from './environment.ts'
import type { EnvironmentId, SnapshotId } from './ids.ts'
import type { Name } from './names.ts'

export type SnapshotStatus = 'writing' | 'ready' | 'failed'

/** What a snapshot can really hold. */
export type Captured = 'filesystem' | 'processes' | 'terminal'

/** An immutable node of the history tree. It outlives the environment it came from. */
export interface SnapshotRecord {
  readonly id: SnapshotId
  readonly name: Name | null
  readonly environmentId: EnvironmentId
  readonly parent: SnapshotId | null
  readonly backend: BackendName
  readonly status: SnapshotStatus
  /** true once it is flushed to disk */
  readonly durable: boolean
  readonly captured: readonly Captured[]
  readonly message: string
  readonly labels: Readonly<Record<string, string>>
  /** milliseconds since 1970 */
  readonly createdAt: number
  /** what the backend needs to materialise it; opaque to everyone else */
  readonly image: { readonly [key: string]: Json }
}
