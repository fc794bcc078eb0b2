import type { Input, OperationName, Output } from '../../api/contract/contract.ts'
import type { EnvironmentId } from '../../model/ids.ts'
import type { Operation } from '../../store/journal.ts'
import type { Engine } from '../engine.ts'
import { remove } from '../operations/remove.ts'
import { environmentInfo, snapshotInfo } from './infos.ts'

type Finder<N extends OperationName> = (
  engine: Engine,
  input: Input<N>,
  done: readonly Operation[],
) => Promise<Output<N> | undefined>

/**
 * The answers that can be read from what a killed process did. Every other operation does nothing the
 * second time, so it is simply carried out again.
 */
const finders: { readonly [N in OperationName]?: Finder<N> } = {
  'environment.create': async (engine, _input, done) =>
    madeBy(engine, done, ['create', 'fork']).at(0),
  'environment.attach': async (engine, _input, done) => madeBy(engine, done, ['attach']).at(0),
  'environment.snapshot': async ({ store }, _input, done) => {
    const taken = done.find(({ payload }) => payload.snapshot !== undefined)?.payload.snapshot
    return taken && snapshotInfo(store.snapshots.resolve(taken))
  },
  'environment.restore': async (engine, { id }, done) => changed(engine, id, done, 'restore'),
  'environment.promote': async (engine, { id }, done) => changed(engine, id, done, 'promote'),
  'environment.pause': async (engine, { id }, done) =>
    changed(engine, id, done, 'pause') ?? changed(engine, id, done, 'release'),
  'environment.resume': async (engine, { id }, done) => changed(engine, id, done, 'resume'),
  'environment.remove': async (_engine, _input, done) => (done.length > 0 ? null : undefined),
  'environment.fork': async (engine, { count }, done) => forksBy(engine, count, done),
  'snapshot.fork': async (engine, { count }, done) => forksBy(engine, count, done),
  'snapshot.remove': async (_engine, _input, done) => done.at(0)?.payload.remove,
}

/** What the operations of a request amount to; undefined if it has to be carried out again. */
export async function foundAnswer<N extends OperationName>(
  engine: Engine,
  key: string,
  name: N,
  input: Input<N>,
): Promise<Output<N> | undefined> {
  const done = engine.store.journal.ofRequest(key).filter(({ state }) => state === 'done')
  const find: Finder<N> | undefined = finders[name]
  return await find?.(engine, input, done)
}

/** The environments that operations of these kinds made, unless somebody removed them since. */
function madeBy(engine: Engine, done: readonly Operation[], kinds: readonly string[]) {
  const ids = done.flatMap(({ kind, environmentId }) =>
    kinds.includes(kind) && environmentId !== null ? [environmentId] : [],
  )
  const records = engine.store.environments.list().filter(({ id }) => ids.includes(id))
  return records.map((record) => environmentInfo(engine, record))
}

function changed(
  engine: Engine,
  id: EnvironmentId,
  done: readonly Operation[],
  kind: string,
): Output<'environment.get'> | undefined {
  const isDone = done.some((each) => each.kind === kind && each.environmentId === id)
  return isDone ? environmentInfo(engine, engine.store.environments.resolve(id)) : undefined
}

/** Some of several forks are worth nothing to a caller who does not know them: all are made again. */
async function forksBy(
  engine: Engine,
  count: number,
  done: readonly Operation[],
): Promise<Output<'snapshot.fork'> | undefined> {
  const made = madeBy(engine, done, ['fork'])
  if (made.length === count) return made
  await Promise.all(made.map(({ id }) => remove(engine, id, { force: true })))
  return undefined
}
