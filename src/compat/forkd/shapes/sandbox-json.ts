import type { EnvironmentInfo } from '../../../api/contract/data/environment.ts'
import type { SnapshotInfo } from '../../../api/contract/data/snapshot.ts'
import { label } from '../labels.ts'
import { tagOf, unixOf } from './snapshot-json.ts'

/** An environment as this wire shows it. */
export interface SandboxJson {
  readonly id: string
  readonly snapshot_tag: string
  /** every sandbox has a network namespace of its own, which has no name */
  readonly netns: null
  /** no agent listens inside: `exec`, `eval` and `ping` are routes */
  readonly guest_addr: ''
  readonly pid: null
  readonly created_at_unix: number
  readonly memory_limit_mib: number | null
  readonly has_branched: boolean
  readonly branch_count: number
}

const mebibyte = 1024 ** 2

export function sandboxJson(info: EnvironmentInfo, all: readonly SnapshotInfo[]): SandboxJson {
  const { memoryBytes } = info.limits
  const branches = all.filter(({ environmentId }) => environmentId === info.id).length
  return {
    id: info.id,
    snapshot_tag: originOf(info, all),
    netns: null,
    guest_addr: '',
    pid: null,
    created_at_unix: unixOf(info.createdAt),
    memory_limit_mib: memoryBytes === undefined ? null : Math.floor(memoryBytes / mebibyte),
    has_branched: branches > 0,
    branch_count: branches,
  }
}

/** The tag that it was made from. Of one that was not made here, where it continues from, or its source. */
export function originOf(info: EnvironmentInfo, all: readonly SnapshotInfo[]): string {
  const noted = info.labels[label.source]
  if (noted !== undefined) return noted
  const head = all.find(({ id }) => id === info.head)
  return head === undefined ? info.source.kind : tagOf(head)
}

/** Sandboxes that live. */
export function isActive({ status }: EnvironmentInfo): boolean {
  return status === 'running' || status === 'paused'
}
