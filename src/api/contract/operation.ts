import type * as z from 'zod/mini'
import type { Scope } from '../../model/values/scopes.ts'
import type { Input } from '../inputs/checked.ts'

export type { Scope }

/** One operation: what goes in, what comes out, and who may call it. */
export interface Operation<In = unknown, Out extends z.ZodMiniType = z.ZodMiniType> {
  readonly scope: Scope
  readonly input: Input<In>
  readonly output: Out
}

export function operation<In, Out extends z.ZodMiniType>(
  scope: Scope,
  input: Input<In>,
  output: Out,
): Operation<In, Out> {
  return { scope, input, output }
}

/**
 * An operation after which there is something new. It belongs to the caller's principal, and carries the
 * labels of its token.
 */
export interface Making<Made extends 'environments' | 'snapshot'> {
  readonly makes: Made
}

export function making<Made extends 'environments' | 'snapshot', O extends Operation>(
  makes: Made,
  made: O,
): O & Making<Made> {
  return { ...made, makes }
}

/** An operation whose output is a stream of bytes. */
export interface StreamOperation<In = unknown> {
  readonly scope: Scope
  readonly input: Input<In>
}
