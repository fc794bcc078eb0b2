import type { BackendName, EnvironmentRecord, Json, MemoryMode } from './environment.ts'
import type { EnvironmentId, SnapshotId } from './ids.ts'
import type { Name } from './names.ts'

export type SnapshotStatus = 'writing' | 'ready' | 'failed'

/** What a snapshot can really hold. */
export type Captured = 'filesystem' | 'processes' | 'terminal'

export interface SnapshotSizes {
  /** bytes of files that this snapshot sealed; null until they were counted */
  readonly filesBytes: number | null
  /** bytes of process images */
  readonly imagesBytes: number
  /** bytes of layers that end with this snapshot and were made of several, by name */
  readonly squashed?: Readonly<Record<string, number>>
}

export interface SnapshotTiming {
  /** longest time that no process inside ran */
  readonly pauseMs: number
  readonly totalMs: number
  readonly phases: readonly { readonly name: string; readonly ms: number }[]
}

/** How the processes of a snapshot come by their memory. */
export interface SnapshotMemory {
  readonly mode: MemoryMode
  /** mapped from pages that everything made of this snapshot has in common */
  readonly sharedBytes: number
  /** copied for everything made of it */
  readonly copiedBytes: number
  readonly processes: readonly ProcessMemory[]
}

export interface ProcessMemory {
  /** inside */
  readonly pid: number
  readonly command: string
  readonly shared: boolean
  readonly sharedBytes: number
  readonly copiedBytes: number
  /** what the decision rests on */
  readonly why: string
}

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
  /** free data of the caller's; null if none was given */
  readonly metadata: Json
  readonly sizes: SnapshotSizes
  readonly timing: SnapshotTiming
  /** absent if it holds no processes */
  readonly memory?: SnapshotMemory
  /** milliseconds since 1970 */
  readonly createdAt: number
  /** what an environment made from it starts with */
  readonly origin: Pick<
    EnvironmentRecord,
    'source' | 'limits' | 'net' | 'memory' | 'env' | 'workdir' | 'labels'
  >
  /** what the backend needs to materialise it; opaque to everyone else */
  readonly image: { readonly [key: string]: Json }
}
