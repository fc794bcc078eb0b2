import type { contract, OperationName, Output } from '../../api/contract/contract.ts'
import { environmentInfo, forked } from '../../api/contract/data/environment.ts'
import { snapshotInfo } from '../../api/contract/data/snapshot.ts'
import { parsedAnswer } from './answer.ts'

/** Of the contract, only what branching answers with: measured, all of it takes 15 ms to load, this 7. */
const outputs = {
  'environment.snapshot': snapshotInfo,
  'environment.restore': environmentInfo,
  'snapshot.fork': forked,
  'snapshot.get': snapshotInfo,
} satisfies { readonly [N in OperationName]?: (typeof contract)[N]['output'] }

export type BranchOperation = keyof typeof outputs

/** What a daemon answered to an operation, as the contract describes it. */
export function branchAnswer<N extends BranchOperation>(
  where: string,
  name: N,
  answer: unknown,
): Output<N> {
  return parsedAnswer<unknown>(outputs[name], answer, { where, name }) as Output<N>
}
