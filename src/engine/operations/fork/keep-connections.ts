import type { Input } from '../../../api/contract/contract.ts'
import { InvalidInputError } from '../../../model/errors.ts'
import type { EnvironmentId } from '../../../model/ids.ts'
import type { Lost, SnapshotRecord } from '../../../model/snapshot.ts'
import { requireCapability, requireFacet } from '../../capabilities.ts'
import type { Engine } from '../../engine.ts'
import { liveRecord } from '../../recovery/liveness.ts'
import { snapshot } from '../snapshot/snapshot.ts'
import { type Fanout, fork } from './fork.ts'
import { cutOff } from './heritage.ts'

/**
 * Forks an environment, and gives its connections to the outside to the fork. It keeps them if anything fails
 * before the fork has them.
 */
export async function forkWithConnections(
  engine: Engine,
  id: EnvironmentId,
  options: Omit<Input<'environment.fork'>, 'id'>,
): Promise<Fanout> {
  requireOne(options.count)
  const { backend } = await liveRecord(engine, id)
  requireCapability(engine.backend(backend), 'fork')
  await using _cut = await cutOff(engine, backend, id)
  const base = await snapshot(engine, id, {})
  const lost = await stillLost(engine, base)
  // Where a snapshot replaces the original, it is another life now.
  const { instance } = await liveRecord(engine, id)
  return await fork(engine, base, options, { original: { id, instance }, lost })
}

async function stillLost(engine: Engine, base: SnapshotRecord): Promise<Lost[]> {
  const kept = await requireFacet(engine.backend(base.backend), 'connections').keptBy(base)
  return (base.lost ?? []).filter(({ object }) => !kept.includes(object))
}

function requireOne(count: number): void {
  if (count === 1) return
  throw new InvalidInputError(`${count} forks cannot have the same connections`, {
    remedy: 'make one fork with `--connections keep`, and the others without it',
    detail: { option: 'connections' },
  })
}
