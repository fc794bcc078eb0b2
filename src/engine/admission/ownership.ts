import type { OperationName, Output } from '../../api/contract/contract.ts'
import type { EnvironmentId } from '../../model/ids.ts'
import type { Engine } from '../engine.ts'

/** The environments that an operation has made. */
const madeBy: { readonly [N in OperationName]?: (output: Output<N>) => readonly EnvironmentId[] } =
  {
    'environment.create': ({ id }) => [id],
    'environment.attach': ({ id }) => [id],
    'environment.fork': idsIn,
    'snapshot.fork': idsIn,
  }

function idsIn(forked: Output<'snapshot.fork'>): EnvironmentId[] {
  return forked.flatMap((each) => ('error' in each ? [] : each.id))
}

/** Notes on whose behalf environments were made, so that they count towards that principal's share. */
export function noteOwner<N extends OperationName>(
  { store }: Engine,
  name: N,
  output: Output<N>,
  principal: string | undefined,
): void {
  if (principal === undefined) return
  for (const id of madeBy[name]?.(output) ?? []) {
    // Somebody may have removed it already.
    if (store.environments.get(id) !== undefined) store.environments.update(id, { principal })
  }
}
