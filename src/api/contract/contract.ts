import type { Given } from '../inputs/checked.ts'
import type { Data } from './data/data.ts'
import { environmentOperations } from './environments.ts'
import { fileOperations, streams } from './files.ts'
import type { Making } from './operation.ts'
import { snapshotOperations } from './snapshots.ts'
import { storeOperations } from './store.ts'
import { tokenOperations } from './tokens.ts'

/**
 * Every operation of Forkpoint, described once. The handles, the engine, a server, a client and their
 * documentation all follow from it.
 */
export const contract = {
  ...environmentOperations,
  ...snapshotOperations,
  ...fileOperations,
  ...storeOperations,
  ...tokenOperations,
}

export type OperationName = keyof typeof contract

/** The input of an operation. */
export type Input<N extends OperationName> = Given<(typeof contract)[N]['input']>

/** The output of an operation. */
export type Output<N extends OperationName> = Data<(typeof contract)[N]['output']>

/** Operations that make environments. */
export type Maker = {
  [N in OperationName]: (typeof contract)[N] extends Making<'environments'> ? N : never
}[OperationName]

/** What there is after an operation that was not there before; null: nothing. */
export function madeBy(name: OperationName): 'environments' | 'snapshot' | null {
  const operation = contract[name]
  return 'makes' in operation ? operation.makes : null
}

export { streams }

export type StreamName = keyof typeof streams

/** The input of a stream. */
export type StreamInput<N extends StreamName> = Given<(typeof streams)[N]['input']>
