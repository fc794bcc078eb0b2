import * as z from 'zod'
import type { Environment } from '../../api/handles/environment.ts'
import type { Snapshot } from '../../api/handles/snapshot.ts'

// What forkd calls a sandbox is an environment; the tag of a snapshot is its name, or its id if it has none.

export const snapshotRecord = z.object({
  tag: z.string(),
  created_at_unix: z.number(),
  branched_from: z.nullable(z.string()),
  pause_ms: z.nullable(z.number()),
  status: z.string(),
  bootable: z.boolean(),
})

export const sandboxRecord = z.object({
  id: z.string(),
  snapshot_tag: z.nullable(z.string()),
  netns: z.nullable(z.string()),
  guest_addr: z.nullable(z.string()),
  pid: z.nullable(z.number()),
  created_at_unix: z.number(),
  branch_count: z.number(),
})

export function snapshotOf({ id, name, lastInfo }: Snapshot): z.output<typeof snapshotRecord> {
  const { createdAt, environmentId, timing, status } = lastInfo
  return {
    tag: name ?? id,
    created_at_unix: seconds(createdAt),
    branched_from: environmentId,
    pause_ms: timing?.pauseMs ?? null,
    status,
    bootable: status === 'ready',
  }
}

/** Addresses and pids of the host mean nothing to a client that may be elsewhere. */
export function sandboxOf(
  { id, lastInfo }: Environment,
  snapshots: readonly Snapshot[],
): z.output<typeof sandboxRecord> {
  const { head, createdAt } = lastInfo
  const from = snapshots.find((each) => each.id === head)
  const branches = snapshots.filter((each) => each.lastInfo.environmentId === id)
  return {
    id,
    snapshot_tag: from?.name ?? head,
    netns: null,
    guest_addr: null,
    pid: null,
    created_at_unix: seconds(createdAt),
    branch_count: branches.length,
  }
}

function seconds(ms: number): number {
  return Math.floor(ms / 1000)
}
