import type { Duplex, Readable } from 'node:stream'
import type { CallOptions } from '../model/call-options.ts'
import type { EnvironmentId } from '../model/ids.ts'
import type { Input, OperationName, Output, StreamInput, StreamName } from './contract/contract.ts'
import type { ForkpointEvent } from './contract/data/store.ts'

export type { CallOptions }

export interface EventOptions extends CallOptions {
  /** the id of the last event that is known; absent: only what happens from now on */
  readonly after?: number | undefined
}

/**
 * The waist: everything above reaches everything below through this, and nothing but data crosses it.
 * One implementation is the engine in this process; another is a client of a daemon.
 */
export interface Control extends AsyncDisposable {
  /** the control plane: one call per operation, typed by the contract */
  call<N extends OperationName>(name: N, input: Input<N>, options?: CallOptions): Promise<Output<N>>
  /** an operation that returns a stream of bytes, which fails if it is cut short */
  stream<N extends StreamName>(
    name: N,
    input: StreamInput<N>,
    options?: CallOptions,
  ): Promise<Readable>
  /** what happens from now on, or after an event, until the signal aborts or the control is closed */
  events(options?: EventOptions): AsyncIterableIterator<ForkpointEvent>
  /** the data plane: a stream of bytes to the agent of an environment */
  connect(id: EnvironmentId, options?: CallOptions): Promise<Duplex>
}
