// What the verbs that branch say, in the whole command line and in the quick one.
import type { Lost, SnapshotInfo } from '../../index.ts'
import type { ErrorJson } from '../../model/errors.ts'
import { labelOf, type Named } from './environment.ts'
import { forked, lostOf, restored, taken } from './layout/sentences.ts'

/** A result that looks the same in every style. */
export interface PlainReport {
  readonly json: unknown
  readonly text: () => string
}

/** What these reports say of an environment. */
export interface Made extends Named {
  /** absent if nothing is missing */
  readonly lost?: readonly Lost[]
}

/** How much of a result a person wants. */
export type Detail = 'ids' | 'sentences'

export const forking = (reference: string) => `forking ${reference}`
export const restoring = (reference: string) => `restoring ${reference}`
export const taking = (reference: string) => `taking a snapshot of ${reference}`

export function forkReport(
  environments: readonly Made[],
  errors: readonly ErrorJson[],
  detail: Detail,
): PlainReport {
  const ids = () => environments.map(({ id }) => id).join('\n')
  // All of them are made from one snapshot.
  const sentences = () => [forked(environments), ...lostOf(environments[0] ?? {})].join('\n')
  return {
    json: errors.length === 0 ? environments : { environments, errors },
    text: detail === 'ids' ? ids : sentences,
  }
}

export function restoreReport(environment: Made, snapshot: Named): PlainReport {
  const text = () => [restored(environment, snapshot), ...lostOf(environment)].join('\n')
  return { json: environment, text }
}

export function snapshotReport(snapshot: SnapshotInfo, detail: Detail): PlainReport {
  const sentence = () =>
    snapshot.status === 'ready' ? taken(snapshot) : `taking snapshot ${labelOf(snapshot)}`
  return { json: snapshot, text: detail === 'ids' ? () => snapshot.id : sentence }
}
