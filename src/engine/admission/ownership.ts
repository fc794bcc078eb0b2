import { type Maker, madeBy, type OperationName, type Output } from '../../api/contract/contract.ts'
import type { EnvironmentId } from '../../model/ids.ts'
import type { Engine } from '../engine.ts'

/** Notes on whose behalf environments were made, so that they count towards that principal's share. */
export function noteOwner<N extends OperationName>(
  { store }: Engine,
  name: N,
  output: Output<N>,
  principal: string | undefined,
): void {
  if (principal === undefined || madeBy(name) !== 'environments') return
  for (const id of idsIn(output as Output<Maker>)) {
    // Somebody may have removed it already.
    if (store.environments.get(id) !== undefined) store.environments.update(id, { principal })
  }
}

function idsIn(output: Output<Maker>): EnvironmentId[] {
  const made = 'id' in output ? [output] : output
  return made.flatMap((each) => ('error' in each ? [] : each.id))
}
