import type { EnvironmentId, SnapshotId } from './ids.ts'
import type { Name } from './names.ts'
import type { Source } from './source.ts'

export type { Source, SourceRequest } from './source.ts'

export const backendNames = [
  'native',
  'docker',
  'podman',
  'podman-criu',
  'criu',
  'gvisor',
  'microvm',
] as const

export type BackendName = (typeof backendNames)[number]

/** An absent limit is no limit. */
export interface Limits {
  readonly memoryBytes?: number
  /** CPUs' worth of time, fractions allowed */
  readonly cpus?: number
  readonly pids?: number
}

export const netModes = ['none', 'nat'] as const

/** `none`: loopback only. `nat`: outgoing connections through the host. */
export type NetMode = (typeof netModes)[number]

export const memoryModes = ['auto', 'share', 'copy'] as const

/**
 * How processes of a snapshot come by their memory: they map the snapshot's own pages and share them
 * until they write (`share`), have a copy of their own (`copy`), or share where that is proven to be
 * safe (`auto`).
 */
export type MemoryMode = (typeof memoryModes)[number]

export interface NetSpec {
  readonly mode: NetMode
  /** networks of the host or its neighbours that may be reached all the same */
  readonly allow: readonly string[]
}

/**
 * `paused`: frozen, in memory. `released`: only its head snapshot is kept. `dead`: its processes
 * ended without Forkpoint, as at a reboot; its files, and its head, are still there.
 */
export type EnvironmentStatus = 'creating' | 'running' | 'paused' | 'released' | 'dead' | 'removing'

export type Json =
  | string
  | number
  | boolean
  | null
  | readonly Json[]
  | { readonly [key: string]: Json }

/** What a backend needs to find its environment again; opaque to everyone else. */
export interface Instance {
  readonly kind: string
  readonly [key: string]: Json
}

export interface EnvironmentRecord {
  readonly id: EnvironmentId
  readonly name: Name | null
  readonly backend: BackendName
  readonly status: EnvironmentStatus
  /** the snapshot it continues from */
  readonly head: SnapshotId | null
  readonly source: Source
  readonly limits: Limits
  readonly net: NetSpec
  /** absent: as the configuration says */
  readonly memory?: MemoryMode
  /** variables of every shell and process started inside */
  readonly env: Readonly<Record<string, string>>
  /** where shells start */
  readonly workdir: string
  readonly labels: Readonly<Record<string, string>>
  readonly hostname: string
  /** milliseconds since 1970 */
  readonly createdAt: number
  readonly instance: Instance | null
}
