import type { EnvironmentRecord } from '../../model/environment.ts'
import { InvalidInputError } from '../../model/errors.ts'
import { formatSource, parseSource } from '../../model/source.ts'
import type { Engine } from '../engine.ts'
import type { CreateOptions } from './create.ts'
import { fork } from './fork.ts'

/** The snapshot that `from` names; undefined if it is a source of another kind. */
export function snapshotSource({ from = 'host' }: CreateOptions): string | undefined {
  const request = parseSource(typeof from === 'string' ? from : formatSource(from))
  return request.kind === 'snapshot' ? request.id : undefined
}

/** `create` from a snapshot is a fork of one. */
export async function createFromSnapshot(
  engine: Engine,
  reference: string,
  options: CreateOptions,
): Promise<EnvironmentRecord> {
  refuseWhatItHas(options)
  const { name, labels, signal } = options
  signal?.throwIfAborted()
  const { records } = await fork(engine, engine.store.snapshots.resolve(reference), {
    ...(name !== undefined && { name }),
    ...(labels !== undefined && { labels }),
  })
  const [made] = records
  if (made === undefined) throw new Error('a fork of one made none')
  return made
}

/** Its processes run with these already: what was asked for would only half come true. */
function refuseWhatItHas(options: CreateOptions): void {
  const { backend, limits, net, netAllow, memory, env, workdir } = options
  const given = Object.entries({ backend, limits, net, netAllow, memory, env, workdir })
    .filter(([, value]) => value !== undefined && !isEmpty(value))
    .map(([key]) => key)
  if (given.length === 0) return
  throw new InvalidInputError(`an environment from a snapshot keeps its ${given.join(', ')}`, {
    remedy: 'give only a name and labels',
    detail: { options: given },
  })
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}
