import type { Ref } from '../../../backends/backend.ts'
import type { EnvironmentId } from '../../../model/ids.ts'
import type { Lost, SnapshotRecord } from '../../../model/snapshot.ts'
import { requireFacet } from '../../capabilities.ts'
import type { Engine } from '../../engine.ts'

/** The environment whose connections to the outside a fork gets. Until then, both are cut off. */
export interface Heritage {
  readonly original: Ref
  /** what the fork does not have even so */
  readonly lost: readonly Lost[]
}

/** Cuts an environment off from the outside as long as this is held. */
export async function cutOff(
  engine: Engine,
  backend: string,
  id: EnvironmentId,
): Promise<AsyncDisposable> {
  const connections = requireFacet(engine.backend(backend), 'connections')
  await connections.hold(id)
  return {
    [Symbol.asyncDispose]: () => connections.release(id),
  }
}

export async function giveConnections(
  engine: Engine,
  { original }: Heritage,
  heir: Ref,
  snapshot: SnapshotRecord,
): Promise<void> {
  await requireFacet(engine.backend(snapshot.backend), 'connections').give(original, heir, snapshot)
}
