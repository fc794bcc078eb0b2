import type { Input, OperationName, Output } from '../../api/contract/contract.ts'
import type { CallOptions } from '../../api/control.ts'
import type { Engine } from '../engine.ts'

/** Carries out an operation. Its input is already checked. */
export type Handler<N extends OperationName> = (
  engine: Engine,
  input: Input<N>,
  options: CallOptions,
) => Promise<Output<N>>

export type Handlers<N extends OperationName = OperationName> = { readonly [K in N]: Handler<K> }
