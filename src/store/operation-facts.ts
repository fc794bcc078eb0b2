import * as z from 'zod/mini'
import type { Phase } from '../linux/stopwatch.ts'
import { BackendError } from '../model/errors.ts'
import { isSnapshotId, type SnapshotId } from '../model/ids.ts'
import { type Cause, causes } from '../model/policy.ts'

/** What recovery needs to know about an operation, and later what its history shows. */
export interface OperationFacts {
  /** the snapshot it takes */
  readonly snapshot?: SnapshotId
  /** the snapshot it reads, which nobody may remove meanwhile */
  readonly from?: SnapshotId
  /** the snapshots it removes */
  readonly remove?: readonly SnapshotId[]
  /** of an apply: the directory, what identifies it, and its staging directory */
  readonly target?: string
  readonly device?: string
  readonly inode?: string
  readonly staging?: string
  /** of a removal: what the environment was called */
  readonly name?: string
  /** its steps, as far as they were measured */
  readonly phases?: readonly Phase[]
  readonly totalMs?: number
  /** bytes of process images written */
  readonly bytes?: number
  /** absent: a caller asked for it */
  readonly cause?: Cause
}

const snapshotId = z.custom<SnapshotId>(isSnapshotId)

const factsSchema: z.ZodMiniType<OperationFacts> = z.object({
  snapshot: z.exactOptional(snapshotId),
  from: z.exactOptional(snapshotId),
  remove: z.exactOptional(z.array(snapshotId)),
  target: z.exactOptional(z.string()),
  device: z.exactOptional(z.string()),
  inode: z.exactOptional(z.string()),
  staging: z.exactOptional(z.string()),
  name: z.exactOptional(z.string()),
  phases: z.exactOptional(z.array(z.object({ name: z.string(), ms: z.number() }))),
  totalMs: z.exactOptional(z.number()),
  bytes: z.exactOptional(z.number()),
  cause: z.exactOptional(z.enum(causes)),
})

/** Ignores what other versions wrote in addition. */
export function parseFacts(json: string): OperationFacts {
  const parsed = factsSchema.safeParse(JSON.parse(json))
  if (parsed.success) return parsed.data
  throw new BackendError('the store has an operation that this version cannot read', {
    remedy: 'use the version of Forkpoint that wrote it',
    detail: { why: parsed.error.issues[0]?.message },
  })
}
