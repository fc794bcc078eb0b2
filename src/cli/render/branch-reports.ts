// What the verbs that branch say, in the whole command line and in the quick one.
import type { SnapshotInfo } from '../../index.ts'
import type { ErrorJson } from '../../model/errors.ts'
import { labelOf, type Named } from './environment.ts'
import { forked, restored, taken } from './layout/sentences.ts'

/** A result that looks the same in every style. */
export interface PlainReport {
  readonly json: unknown
  readonly text: () => string
}

/** How much of a result a person wants. */
export type Detail = 'ids' | 'sentences'

export const forking = (reference: string) => `forking ${reference}`
export const restoring = (reference: string) => `restoring ${reference}`
export const taking = (reference: string) => `taking a snapshot of ${reference}`

export function forkReport(
  environments: readonly Named[],
  errors: readonly ErrorJson[],
  detail: Detail,
): PlainReport {
  const ids = () => environments.map(({ id }) => id).join('\n')
  return {
    json: errors.length === 0 ? environments : { environments, errors },
    text: detail === 'ids' ? ids : () => forked(environments),
  }
}

export function restoreReport(environment: Named, snapshot: Named): PlainReport {
  return { json: environment, text: () => restored(environment, snapshot) }
}

export function snapshotReport(snapshot: SnapshotInfo, detail: Detail): PlainReport {
  const sentence = () =>
    snapshot.status === 'ready' ? taken(snapshot) : `taking snapshot ${labelOf(snapshot)}`
  return { json: snapshot, text: detail === 'ids' ? () => snapshot.id : sentence }
}
