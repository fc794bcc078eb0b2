import type { EnvironmentId, SnapshotId } from './ids.ts'
import type { EnvironmentImage } from './image.ts'
import type { Policy } from './policy.ts'
import type { Lost } from './snapshot.ts'
import type { Source } from './source.ts'
import type { Name } from './values/names.ts'

export type { Source, SourceRequest } from './source.ts'

/** The name of a backend in the registry. */
export type BackendName = string

/** An absent limit is no limit. */
export interface Limits {
  readonly memoryBytes?: number
  /** CPUs' worth of time, fractions allowed */
  readonly cpus?: number
  readonly pids?: number
  /** space that the files it has written may take */
  readonly diskBytes?: number
  /** bytes per second that it may read from each disk below it */
  readonly ioReadBytes?: number
  /** bytes per second that it may write to each disk below it */
  readonly ioWriteBytes?: number
  /** bytes per second that it may send, and as many that it may receive */
  readonly netBytes?: number
}

export const rateLimits = [
  'ioReadBytes',
  'ioWriteBytes',
  'netBytes',
] as const satisfies (keyof Limits)[]

export const netModes = ['none', 'nat'] as const

/** `none`: loopback only. `nat`: outgoing connections through the host. */
export type NetMode = (typeof netModes)[number]

export const memoryModes = ['auto', 'share', 'copy'] as const

/**
 * How processes made from a snapshot get their memory: they map the snapshot's pages and share them until
 * they write (`share`), get their own copy (`copy`), or share if that is proven to be safe (`auto`).
 */
export type MemoryMode = (typeof memoryModes)[number]

export interface NetSpec {
  readonly mode: NetMode
  /** networks of the host or its neighbours that are still reachable */
  readonly allow: readonly string[]
  /** networks that are not reachable through the host; absent: none */
  readonly denyOut?: readonly string[]
  /** networks that are reachable although `denyOut` has them; absent: none */
  readonly allowOut?: readonly string[]
}

export const environmentStatuses = [
  'creating',
  'running',
  'paused',
  'released',
  'dead',
  'removing',
] as const

/**
 * `paused`: frozen, in memory. `released`: only its head snapshot is kept. `dead`: its processes
 * ended without Forkpoint, as at a reboot; its files and its head still exist.
 */
export type EnvironmentStatus = (typeof environmentStatuses)[number]

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

/** A directory of the caller's machine that was copied in. What it was like is kept in a file of the home. */
export interface CopyNote {
  readonly id: string
  /** where it went, inside */
  readonly path: string
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
  /** absent: as configured */
  readonly memory?: MemoryMode
  /** variables of every shell and process started inside */
  readonly env: Readonly<Record<string, string>>
  /** where shells start */
  readonly workdir: string
  readonly labels: Readonly<Record<string, string>>
  /** what happens to it by itself; absent: nothing */
  readonly policy?: Policy
  /** on whose behalf it was made, where several share an engine; absent: the program that has it open */
  readonly principal?: string
  /** when its idle policy paused or released it; null if a caller did */
  readonly sleptAt?: number | null
  /** absent unless it was made from a container image */
  readonly image?: EnvironmentImage
  /** words of the program that was started with it; absent: none was */
  readonly command?: readonly string[]
  /** oldest first; absent: nothing was copied in */
  readonly copies?: readonly CopyNote[]
  /** what its present life does not have of the snapshot that it was made from; absent: nothing is missing */
  readonly lost?: readonly Lost[]
  readonly hostname: string
  /** milliseconds since 1970 */
  readonly createdAt: number
  readonly instance: Instance | null
}
