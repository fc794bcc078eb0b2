import type { EnvironmentRecord } from '../../../model/environment.ts'
import { BackendError, InvalidInputError } from '../../../model/errors.ts'
import type { Engine } from '../../engine.ts'
import { fork } from '../fork/fork.ts'
import type { CreateOptions } from './create.ts'

/** The snapshot that `from` names; undefined if it names another kind of source. */
export function snapshotSource({ from }: CreateOptions): string | undefined {
  return from?.kind === 'snapshot' ? from.id : undefined
}

/** `create` from a snapshot makes one fork of it. */
export async function createFromSnapshot(
  engine: Engine,
  reference: string,
  options: CreateOptions,
): Promise<EnvironmentRecord> {
  refuseFixedOptions(options)
  const { name, labels, signal } = options
  signal?.throwIfAborted()
  const { records } = await fork(engine, engine.store.snapshots.resolve(reference), {
    count: 1,
    ...(name !== undefined && { name }),
    ...(labels !== undefined && { labels }),
  })
  const [made] = records
  if (made === undefined) {
    throw new BackendError('the fork made no environment', { remedy: 'try again' })
  }
  return made
}

/** Its processes already run with these, so new values would apply only in part. */
function refuseFixedOptions(options: CreateOptions): void {
  const { backend, limits, memory, env, workdir, command } = options
  const { net, netAllow, netDenyOut, netAllowOut } = options
  const { processes, extraArgs, exportDir, ttlMs, ttlAction, idle, wake } = options
  const network = { net, netAllow, netDenyOut, netAllowOut }
  const fixed = { backend, limits, ...network, memory, env, workdir, command }
  const given = Object.entries({
    ...fixed,
    processes,
    extraArgs,
    exportDir,
    ttlMs,
    ttlAction,
    idle,
    wake,
  })
    .filter(([, value]) => value !== undefined && !isEmpty(value))
    .map(([key]) => key)
  if (given.length === 0) return
  throw new InvalidInputError(`an environment from a snapshot keeps its ${given.join(', ')}`, {
    remedy: 'only give a name and labels',
    detail: { options: given },
  })
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0
}
