import type { Environment } from '../environment.ts'

/**
 * The environments that a fan-out made. It is complete if `errors` is empty; with `atomic` it always
 * is, and if none could be made the call rejects.
 */
export type Forks = Environment[] & {
  /** one for each that could not be made */
  readonly errors: readonly Error[]
}

/** The errors are beside the list, not one of its entries. */
export function forksOf(environments: Environment[], errors: readonly Error[]): Forks {
  return Object.defineProperty(environments, 'errors', { value: errors }) as Forks
}
