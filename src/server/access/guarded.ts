import {
  contract,
  type Input,
  type OperationName,
  type Output,
  streams,
} from '../../api/contract/contract.ts'
import type { FlatNode, ForkpointEvent } from '../../api/contract/data/store.ts'
import type { CallOptions, Control } from '../../api/control.ts'
import { requireAllowed } from './allowed-input.ts'
import { narrowed } from './narrowed.ts'
import { isRestricted, type Principal, requireScope } from './principal.ts'
import { type Visible, visible } from './visible.ts'

/**
 * The same operations, as one principal may use them: within its scope, and only on what carries its
 * labels.
 */
export function guarded(control: Control, principal: Principal): Control {
  const limits = isRestricted(principal) ? visible(control, principal) : null
  return {
    call: async (name, input, given) => {
      requireScope(principal, contract[name].scope)
      requireAllowed(principal, name, input)
      const options = { ...given, principal: principal.id }
      if (limits === null) return await control.call(name, input, options)
      return await callWithin(control, principal, limits, name, input, options)
    },
    stream: async (name, input, options) => {
      requireScope(principal, streams[name].scope)
      await limits?.find(input.of)
      return await control.stream(name, input, options)
    },
    events: (options) => {
      requireScope(principal, 'read')
      const all = control.events(options)
      return limits === null ? all : visibleEvents(all, limits)
    },
    connect: async (id, options) => {
      requireScope(principal, 'exec')
      await limits?.find(id)
      return await control.connect(id, options)
    },
    // The control is everybody's.
    [Symbol.asyncDispose]: async () => {},
  }
}

async function callWithin<N extends OperationName>(
  control: Control,
  principal: Principal,
  limits: Visible,
  name: N,
  input: Input<N>,
  options: CallOptions | undefined,
): Promise<Output<N>> {
  const narrow = (await narrowed(principal, limits, name, input)) as Input<N>
  const answer = await control.call(name, narrow, options)
  return (await shown(limits, name, answer)) as Output<N>
}

/** Listings show everything, so what others own is taken out again. */
async function shown(limits: Visible, name: OperationName, answer: unknown): Promise<unknown> {
  switch (name) {
    case 'environment.list':
      return limits.environments(answer as Output<'environment.list'>)
    case 'snapshot.list':
      return await limits.snapshots(answer as Output<'snapshot.list'>)
    case 'operations':
      return await limits.operations(answer as Output<'operations'>)
    case 'tree':
      return await limits.tree(answer as readonly FlatNode[])
    default:
      return answer
  }
}

async function* visibleEvents(
  all: AsyncIterable<ForkpointEvent>,
  limits: Visible,
): AsyncGenerator<ForkpointEvent, void, undefined> {
  for await (const event of all) if (await limits.hasEvent(event)) yield event
}
