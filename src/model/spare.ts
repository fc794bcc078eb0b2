import type { Instance, Limits } from './environment.ts'
import type { EnvironmentId, SnapshotId } from './ids.ts'
import type { Name } from './values/names.ts'

/** `restore`: the next life of an environment. `fork`: an environment that does not exist yet. */
export type SpareKind = 'restore' | 'fork'

/**
 * A branch that was prepared before anybody asked for it: restored, and frozen before its first
 * instruction.
 */
export interface SpareRecord {
  readonly id: string
  readonly kind: SpareKind
  readonly snapshot: SnapshotId
  /** the environment it is for; for a fork, the id that the new one will have */
  readonly environmentId: EnvironmentId
  /** the name in its own identity.json */
  readonly name: Name | null
  readonly limits: Limits
  /** milliseconds since 1970 */
  readonly createdAt: number
  /** null while it is being made */
  readonly instance: Instance | null
  /** its private memory, which nothing else shares */
  readonly memoryBytes: number
}
