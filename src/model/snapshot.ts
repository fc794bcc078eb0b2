import type { BackendName, EnvironmentRecord, Json, MemoryMode } from './environment.ts'
import type { EnvironmentId, SnapshotId } from './ids.ts'
import type { Name } from './values/names.ts'

export const snapshotStatuses = ['writing', 'ready', 'failed'] as const

export type SnapshotStatus = (typeof snapshotStatuses)[number]

export const proofs = ['unproven', 'proven', 'failed'] as const

/**
 * Whether a snapshot is known to restore. `proven`: something was made from it, or it holds no processes.
 * `failed`: nothing can be made from it.
 */
export type Proof = (typeof proofs)[number]

/** Why nothing can be made from a snapshot. */
export interface SnapshotFailure {
  readonly message: string
  readonly remedy?: string
  /** CRIU's log, if it is still there */
  readonly logPath?: string
}

export const snapshotMakers = ['user', 'fork', 'promote', 'pause'] as const

/** Who asked for a snapshot: a caller, or an operation that needed one. */
export type SnapshotMaker = (typeof snapshotMakers)[number]

export const capturable = ['filesystem', 'processes', 'terminal'] as const

/** What a snapshot can hold. */
export type Captured = (typeof capturable)[number]

export interface SnapshotSizes {
  /** bytes of the files that this snapshot sealed; null until they are counted */
  readonly filesBytes: number | null
  /** bytes of process images */
  readonly imagesBytes: number
  /** bytes of squashed layers that end with this snapshot, by name */
  readonly squashed?: Readonly<Record<string, number>>
}

export interface SnapshotTiming {
  /** longest time that no process inside ran */
  readonly pauseMs: number
  readonly totalMs: number
  readonly phases: readonly { readonly name: string; readonly ms: number }[]
}

/** How processes made from a snapshot get their memory. */
export interface SnapshotMemory {
  readonly mode: MemoryMode
  /** mapped from pages that everything made from this snapshot shares */
  readonly sharedBytes: number
  /** copied for everything made from it */
  readonly copiedBytes: number
  /** the most that one copy takes of the machine at once, with shared memory; absent in earlier versions */
  readonly neededBytes?: number
  /** of these, what processes had in common with their parents: a copy may take it only once */
  readonly commonBytes?: number
  readonly processes: readonly ProcessMemory[]
  /** absent in snapshots of earlier versions */
  readonly tracking?: MemoryTracking
}

export const dumpModes = ['written', 'remapped', 'live', 'full'] as const

/** How much memory was written for a snapshot, and why. */
export interface MemoryTracking {
  /**
   * what was written in the stop. `written`: pages that were written since the snapshot before, because
   * the kernel noted them. `remapped`: the same, because processes map all others from earlier snapshots.
   * `live`: those that were written while the others were copied, just before. `full`: all pages
   */
  readonly mode: (typeof dumpModes)[number]
  readonly why: string
}

export interface ProcessMemory {
  /** inside */
  readonly pid: number
  readonly command: string
  readonly shared: boolean
  readonly sharedBytes: number
  readonly copiedBytes: number
  /** the reason for the decision */
  readonly why: string
  /** what is copied, and why; absent below 1 MiB, and in snapshots of earlier versions */
  readonly copied?: readonly CopiedMemory[]
}

export const copiedKinds = ['heap', 'stack', 'mapping', 'file'] as const

export interface CopiedMemory {
  /** `heap`: what brk extends; `mapping`: what was mapped without a file; `file`: changed pages of a file */
  readonly what: (typeof copiedKinds)[number]
  readonly bytes: number
  readonly why: string
}

/** Something that a copy made from a snapshot cannot keep. */
export interface Lost {
  /** whose it is, by its number inside; null if it is nobody's */
  readonly process: { readonly pid: number; readonly command: string } | null
  /** what it is, such as `the TCP connection to 192.0.2.1:443` */
  readonly object: string
  /** what happens to it in a copy, such as `is closed` */
  readonly what: string
  /** what a program there will see */
  readonly consequence: string
}

/** What a snapshot without processes knows about a shell that was idle. */
export interface RememberedShell {
  readonly name: string
  /** commands that set its variables, its functions and its directory */
  readonly state: string
}

/** An immutable node of the history tree. It outlives the environment it came from. */
export interface SnapshotRecord {
  readonly id: SnapshotId
  readonly name: Name | null
  readonly environmentId: EnvironmentId
  /** on whose behalf that environment was made; absent: the program that has the engine open */
  readonly principal?: string
  readonly parent: SnapshotId | null
  readonly by: SnapshotMaker
  readonly backend: BackendName
  readonly status: SnapshotStatus
  readonly proof: Proof
  /** absent unless the proof failed */
  readonly failure?: SnapshotFailure
  /** true once it is flushed to disk */
  readonly durable: boolean
  readonly captured: readonly Captured[]
  /** whether the environment itself continued after it, or a copy took its place */
  readonly original: 'kept' | 'replaced'
  readonly message: string
  readonly labels: Readonly<Record<string, string>>
  /** any data the caller attached; null if none */
  readonly metadata: Json
  readonly sizes: SnapshotSizes
  readonly timing: SnapshotTiming
  /** absent if it holds no processes */
  readonly memory?: SnapshotMemory
  /** what copies made from it do not have; absent if they have everything */
  readonly lost?: readonly Lost[]
  /** absent if it holds processes, or had no shells */
  readonly shells?: readonly RememberedShell[]
  /** milliseconds since 1970 */
  readonly createdAt: number
  /** what an environment made from it starts with */
  readonly origin: Pick<
    EnvironmentRecord,
    | 'source'
    | 'limits'
    | 'net'
    | 'memory'
    | 'env'
    | 'workdir'
    | 'labels'
    | 'policy'
    | 'image'
    | 'command'
  >
  /** what the backend needs to materialize it; opaque to everyone else */
  readonly image: { readonly [key: string]: Json }
}
