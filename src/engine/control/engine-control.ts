import {
  contract,
  type Input,
  type OperationName,
  type Output,
  streams,
} from '../../api/contract/contract.ts'
import type { CallOptions, Control } from '../../api/control.ts'
import { checked, type Input as Schema } from '../../api/inputs/checked.ts'
import { isEnvironmentId } from '../../model/ids.ts'
import { noteOwner } from '../admission/ownership.ts'
import { archiveOf } from '../copying/archive.ts'
import type { Engine } from '../engine.ts'
import { agentTransport } from './agent-transport.ts'
import { environmentHandlers } from './environment-handlers.ts'
import { fileHandlers } from './file-handlers.ts'
import { foundAnswer } from './found-answer.ts'
import type { Handler, Handlers } from './handlers.ts'
import { once } from './once.ts'
import { snapshotHandlers } from './snapshot-handlers.ts'
import { storeHandlers } from './store-handlers.ts'
import { tokenHandlers } from './token-handlers.ts'

const handlers: Handlers = {
  ...environmentHandlers,
  ...snapshotHandlers,
  ...fileHandlers,
  ...storeHandlers,
  ...tokenHandlers,
}

/** Runs every operation in this process. Disposing of it closes the engine. */
export function engineControl(engine: Engine): Control {
  return {
    call: async (name, input, options = {}) => {
      options.signal?.throwIfAborted()
      return await perform(engine, name, input, options)
    },
    stream: async (name, input, options = {}) => {
      options.signal?.throwIfAborted()
      return await archiveOf(engine, checked('archive', streams[name].input, input))
    },
    events: (options) => engine.events.listen(options),
    connect: async (id, options = {}) => {
      options.signal?.throwIfAborted()
      return await agentTransport(engine, id)
    },
    [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose](),
  }
}

async function perform<N extends OperationName>(
  engine: Engine,
  name: N,
  given: unknown,
  options: CallOptions,
): Promise<Output<N>> {
  const schema = contract[name].input as Schema<Input<N>>
  const input = checked(verbOf(name), schema, given)
  const work = () => carryOut(engine, name, input, options)
  const { idempotencyKey: key } = options
  if (key === undefined || !isRecorded(name)) return await work()
  const found = () => foundAnswer(engine, key, name, input)
  return await once(engine, { key, name, input: given }, work, found)
}

/** Looking twice does no harm, and a secret is never stored. */
function isRecorded(name: OperationName): boolean {
  return contract[name].scope !== 'read' && !name.startsWith('token.')
}

async function carryOut<N extends OperationName>(
  engine: Engine,
  name: N,
  input: Input<N>,
  options: CallOptions,
): Promise<Output<N>> {
  const handler: Handler<N> = handlers[name]
  if (contract[name].scope !== 'read') noteUse(engine, input)
  using _turn = await engine.admission.enter(name, input, options)
  const output = await handler(engine, input, options)
  noteOwner(engine, name, output, options.principal)
  return output
}

/** Whoever changes an environment uses it. */
function noteUse({ activity }: Engine, input: unknown): void {
  const { id } = input as { readonly id?: unknown }
  if (isEnvironmentId(id)) activity.touch(id)
}

/** The name to use in messages about its input: callers know the method, not its group. */
function verbOf(name: OperationName): string {
  return name.split('.').at(-1) ?? name
}
