import type { EnvironmentRecord } from '../model/environment.ts'
import { ConflictError, NotFoundError } from '../model/errors.ts'
import type { SnapshotRecord } from '../model/snapshot.ts'
import { quote } from '../model/text/quote.ts'
import type { Store } from '../store/open-store.ts'

export type Referent =
  | { readonly kind: 'environment'; readonly record: EnvironmentRecord }
  | { readonly kind: 'snapshot'; readonly record: SnapshotRecord }

/** The environment or snapshot that a reference means. */
export function findReferent(store: Store, reference: string): Referent {
  const environment = unlessMissing(() => store.environments.resolve(reference))
  const snapshot = unlessMissing(() => store.snapshots.resolve(reference))
  if (environment && snapshot) throw ambiguous(reference, environment, snapshot)
  if (environment) return { kind: 'environment', record: environment }
  if (snapshot) return { kind: 'snapshot', record: snapshot }
  throw new NotFoundError(`no environment or snapshot ${quote(reference)}`, {
    remedy: '`forkpoint tree` shows them all',
    detail: { ref: reference },
  })
}

function unlessMissing<T>(resolve: () => T): T | undefined {
  try {
    return resolve()
  } catch (error) {
    if (error instanceof NotFoundError) return undefined
    throw error
  }
}

/** An id's first letter says which of the two it is; a name does not. */
function ambiguous(
  reference: string,
  { id: environment }: EnvironmentRecord,
  { id: snapshot }: SnapshotRecord,
): ConflictError {
  return new ConflictError(
    `${quote(reference)} is the name of both an environment and a snapshot`,
    {
      remedy: `give the id: ${environment} is the environment, ${snapshot} the snapshot`,
      detail: { ref: reference, candidates: [environment, snapshot] },
    },
  )
}
