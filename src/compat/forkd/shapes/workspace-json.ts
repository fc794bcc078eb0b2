import type { EnvironmentInfo } from '../../../api/contract/data/environment.ts'
import type { SnapshotInfo } from '../../../api/contract/data/snapshot.ts'
import { label } from '../labels.ts'
import { originOf } from './sandbox-json.ts'
import { tagOf, unixOf } from './snapshot-json.ts'

/** A named environment, as this wire shows it. */
export interface WorkspaceJson {
  readonly id: string
  readonly name: string
  readonly source_snapshot_tag: string
  /** the state of the last suspend; absent before the first */
  readonly current_state_tag?: string
  readonly status: 'running' | 'suspended' | 'stale'
  readonly live_sandbox_id?: string
  readonly created_at_unix: number
  readonly last_active_unix: number
}

export function isWorkspace({ name, labels }: EnvironmentInfo): boolean {
  return name !== null && labels[label.workspace] === name
}

export function workspaceJson(
  info: EnvironmentInfo,
  all: readonly SnapshotInfo[],
  lastActiveMs: number,
): WorkspaceJson {
  const source = originOf(info, all)
  const head = all.find(({ id }) => id === info.head)
  const state = head === undefined ? source : tagOf(head)
  const status = statusOf(info)
  return {
    id: info.id,
    name: info.name ?? info.id,
    source_snapshot_tag: source,
    ...(state !== source && { current_state_tag: state }),
    status,
    ...(status === 'running' && { live_sandbox_id: info.id }),
    created_at_unix: unixOf(info.createdAt),
    last_active_unix: unixOf(lastActiveMs),
  }
}

function statusOf({ status }: EnvironmentInfo): WorkspaceJson['status'] {
  if (status === 'running') return 'running'
  return status === 'paused' || status === 'released' ? 'suspended' : 'stale'
}
