import { errorFromJson } from '../../model/errors.ts'
import type { Output } from '../contract/contract.ts'
import { type Given, options } from '../inputs/checked.ts'
import { fork, liveFork } from '../inputs/environment-inputs.ts'
import { idempotencyKey, signal } from '../inputs/values.ts'
import type { Environment } from './environment.ts'
import type { Handles } from './handles.ts'

export const forkInput = options({ ...fork, signal, idempotencyKey })

export const liveForkInput = options({ ...liveFork, signal, idempotencyKey })

export type ForkOptions = Given<typeof forkInput>

export type LiveForkOptions = Given<typeof liveForkInput>

/**
 * The environments that a fork made. The list is complete if `errors` is empty. With `atomic` it always
 * is. If no environment could be made, the call rejects instead.
 */
export type Forks = Environment[] & {
  /** one for each environment that could not be made */
  readonly errors: readonly Error[]
}

/** Attaches the errors to the list as a property that iteration does not see. */
export function forksOf(handles: Handles, forked: Output<'environment.fork'>): Forks {
  const environments: Environment[] = []
  const errors: Error[] = []
  for (const each of forked) {
    if ('error' in each) errors.push(errorFromJson(each.error))
    else environments.push(handles.environment(each))
  }
  return Object.defineProperty(environments, 'errors', { value: errors }) as Forks
}
