import type { EnvironmentRecord } from '../../../model/environment.ts'
import { newEnvironmentId } from '../../../model/ids.ts'
import type { SnapshotRecord } from '../../../model/snapshot.ts'
import { type Name, parseName } from '../../../model/values/names.ts'
import { hostnameOf } from '../identity.ts'

export interface DraftOptions {
  readonly name?: string | undefined
  readonly labels?: Readonly<Record<string, string>> | undefined
}

/** The record of a fork before any of it is made. */
export function forkDraft(snapshot: SnapshotRecord, options: DraftOptions = {}): EnvironmentRecord {
  const id = newEnvironmentId()
  const name: Name | null = options.name === undefined ? null : parseName(options.name)
  return {
    ...snapshot.origin,
    id,
    name,
    backend: snapshot.backend,
    hostname: hostnameOf(name, id),
    status: 'creating',
    head: snapshot.id,
    instance: null,
    createdAt: Date.now(),
    labels: { ...snapshot.origin.labels, ...options.labels },
  }
}
