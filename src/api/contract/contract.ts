import type { Given } from '../inputs/checked.ts'
import type { Data } from './data/data.ts'
import { environmentOperations } from './environments.ts'
import { fileOperations, streams } from './files.ts'
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

export { streams }

export type StreamName = keyof typeof streams

/** The input of a stream. */
export type StreamInput<N extends StreamName> = Given<(typeof streams)[N]['input']>
