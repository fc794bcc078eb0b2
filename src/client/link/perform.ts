import {
  contract,
  type Input,
  type OperationName,
  type Output,
} from '../../api/contract/contract.ts'
import type { CallOptions } from '../../model/call-options.ts'
import { parsedAnswer } from './answer.ts'
import { type Link, sendOperation } from './send-operation.ts'

/** Sends an operation to a daemon, and reads its answer. */
export async function perform<N extends OperationName>(
  link: Link,
  name: N,
  input: Input<N>,
  options?: CallOptions,
): Promise<Output<N>> {
  const answer = await sendOperation(link, name, input, options)
  const { where } = link
  return parsedAnswer<unknown>(contract[name].output, answer, { where, name }) as Output<N>
}
