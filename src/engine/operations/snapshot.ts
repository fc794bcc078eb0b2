import { killPoint } from '../../linux/kill-points.ts'
import { msSince, roundMs, stopwatch } from '../../linux/stopwatch.ts'
import type { EnvironmentRecord, Instance, Json } from '../../model/environment.ts'
import { BackendError } from '../../model/errors.ts'
import { type EnvironmentId, newSnapshotId } from '../../model/ids.ts'
import { parseName } from '../../model/names.ts'
import type { SnapshotRecord } from '../../model/snapshot.ts'
import type { Operation } from '../../store/journal.ts'
import type { Lease } from '../../store/leases.ts'
import { closeConnections, greet } from '../agents.ts'
import type { Engine } from '../engine.ts'
import { checked } from '../inputs/checked.ts'
import { snapshotInput } from '../inputs/environment-inputs.ts'
import { giveBackUnlessSeized } from '../recovery/give-back.ts'
import { type LiveRecord, liveRecord } from '../recovery/liveness.ts'
import { hold, warn } from '../recovery/recover.ts'
import { retire } from '../spares/discard.ts'
import { afterSnapshot } from '../spares/wants.ts'
import { materialize } from './materialize.ts'

export interface SnapshotOptions {
  readonly name?: string
  readonly message?: string
  readonly labels?: Readonly<Record<string, string>>
  /** anything that survives JSON */
  readonly metadata?: Json
  /** `full` (default): files, processes and terminals. `filesystem`: files only */
  readonly mode?: 'full' | 'filesystem'
  /** waits until the snapshot is on disk */
  readonly durable?: boolean
  readonly signal?: AbortSignal
}

/**
 * Takes a snapshot. The environment continues as the snapshot's first child; if anything fails, it
 * continues as if the call had not been made.
 */
export async function snapshot(
  engine: Engine,
  id: EnvironmentId,
  given: SnapshotOptions,
): Promise<SnapshotRecord> {
  const options = checked('snapshot', snapshotInput, given)
  const taken = await despitePassingTrouble(() => takeAlone(engine, id, options))
  engine.spares.want(afterSnapshot(taken))
  engine.squashes.start(taken)
  if (!options.durable) {
    engine.flushes.startSoon(taken)
    return taken
  }
  await engine.flushes.start(taken)
  return engine.store.snapshots.resolve(taken.id)
}

const mostTries = 3

/**
 * What the dump met may be over at the next try: a client that connected just before the freeze, which
 * is closed then, too, or a shell that was just starting on its terminal.
 */
async function despitePassingTrouble<T>(take: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await take()
    } catch (error) {
      const isPassing = error instanceof BackendError && error.detail?.passing === true
      if (!isPassing || tries === mostTries) throw error
    }
  }
}

async function takeAlone(
  engine: Engine,
  id: EnvironmentId,
  options: SnapshotOptions,
): Promise<SnapshotRecord> {
  await using lease = await hold(engine, id, 'snapshot', options)
  options.signal?.throwIfAborted()
  const draft = begin(engine, lease, id, options, 'snapshot')
  const { record } = draft
  const ready = await orGiveBack(engine, draft, async () => {
    const taken = await take(engine, draft, options)
    if (options.mode === 'filesystem') return commit(engine, draft, taken, 'stays')
    const { next, ended } = await succeed(engine, draft, taken)
    return commit(engine, draft, ended, next)
  })
  killPoint('snapshot:committed')
  if (options.mode !== 'filesystem') {
    engine.background.startWhenQuiet(() => engine.backend(record.backend).end(id, record.instance))
  }
  return ready
}

/** Takes a snapshot and ends the environment's processes: `pause --release`. */
export async function release(engine: Engine, id: EnvironmentId): Promise<SnapshotRecord> {
  await using lease = await hold(engine, id, 'release')
  const draft = begin(engine, lease, id, {}, 'release')
  const ready = await orGiveBack(engine, draft, async () => {
    const taken = await take(engine, draft, {})
    // Only the snapshot will be left of the environment: it has to last.
    const { filesBytes } = await engine.backend(taken.backend).flush(taken)
    const sizes = { ...taken.sizes, filesBytes }
    return commit(engine, draft, { ...taken, sizes, durable: true }, null)
  })
  killPoint('release:committed')
  engine.events.emit({ type: 'durable', snapshot: ready.id, at: Date.now() })
  await retire(engine, draft.record, null)
  return ready
}

/** Ends with a commit; after that there is nothing to give back to. */
async function orGiveBack(
  engine: Engine,
  { lease, record, snapshot: { id }, operation }: Draft,
  work: () => Promise<SnapshotRecord>,
): Promise<SnapshotRecord> {
  try {
    return await work()
  } catch (error) {
    try {
      await giveBackUnlessSeized(engine, lease, record, id)
      engine.store.journal.fail(operation, error)
    } catch (left) {
      // It stays open: whoever comes next tries again. What went wrong first is what the caller needs.
      warn(engine, operation, left as Error)
    }
    throw error
  }
}

interface Draft {
  readonly lease: Lease
  readonly record: LiveRecord
  readonly snapshot: SnapshotRecord
  readonly operation: Operation
  readonly began: number
}

/** Writes down what is about to happen. */
function begin(
  engine: Engine,
  lease: Lease,
  id: EnvironmentId,
  options: SnapshotOptions,
  kind: 'snapshot' | 'release',
): Draft {
  const { store } = engine
  const record = liveRecord(engine, id)
  const draft: SnapshotRecord = {
    id: newSnapshotId(),
    name: options.name === undefined ? null : parseName(options.name),
    ...{ environmentId: id, parent: record.head, backend: record.backend },
    ...{ status: 'writing', durable: false, captured: [], image: {}, createdAt: Date.now() },
    ...{ message: options.message ?? '', labels: options.labels ?? {} },
    metadata: options.metadata ?? null,
    origin: originOf(record),
    sizes: { filesBytes: null, imagesBytes: 0 },
    timing: { pauseMs: 0, totalMs: 0, phases: [] },
  }
  const operation = store.transaction(() => {
    store.snapshots.insert(draft)
    return store.journal.begin(kind, id, { snapshot: draft.id })
  })
  killPoint('snapshot:begun')
  return { lease, record, snapshot: draft, operation, began: performance.now() }
}

function originOf(record: EnvironmentRecord): SnapshotRecord['origin'] {
  const { source, limits, net, memory, env, workdir, labels } = record
  return { source, limits, net, ...(memory !== undefined && { memory }), env, workdir, labels }
}

/** The record as it will be, but for its status; its times still run. */
type Taken = SnapshotRecord

async function take(
  engine: Engine,
  { record, snapshot: draft }: Draft,
  { mode = 'full', signal }: Pick<SnapshotOptions, 'mode' | 'signal'>,
): Promise<Taken> {
  const { instance } = record
  const backend = engine.backend(record.backend)
  if (mode === 'full') {
    // A frozen agent can close nothing: a paused environment is woken for a moment.
    if (record.status === 'paused') await backend.resume(record.id, instance)
    await closeConnections(engine, record, instance, { signal })
  }
  const memory = record.memory ?? engine.settings.memory
  const head = record.head === null ? null : (engine.store.snapshots.get(record.head) ?? null)
  const result = await backend.capture(record.id, instance, draft.id, { mode, memory, head })
  return {
    ...draft,
    image: result.image,
    captured: result.captured,
    ...(result.memory && { memory: result.memory }),
    sizes: { filesBytes: null, imagesBytes: result.imagesBytes },
    timing: { ...draft.timing, pauseMs: msSince(result.frozenAt), phases: result.phases },
  }
}

/** The environment's next life, over what was sealed. */
async function succeed(
  engine: Engine,
  { record }: Draft,
  taken: Taken,
): Promise<{ next: Instance; ended: Taken }> {
  const backend = engine.backend(record.backend)
  const watch = stopwatch()
  const next = await watch.measure('materialize', () =>
    materialize(engine, record, taken, { replaces: record.instance, role: 'successor' }),
  )
  const pauseMs = roundMs(taken.timing.pauseMs + (watch.phases[0]?.ms ?? 0))
  await watch.measure('swap', async () => {
    await greet(engine, record, next)
    if (record.status === 'paused') await backend.pause(record.id, next)
  })
  const phases = [...taken.timing.phases, ...watch.phases]
  return { next, ended: { ...taken, timing: { totalMs: 0, pauseMs, phases } } }
}

function commit(
  engine: Engine,
  { lease, record, operation, began }: Draft,
  taken: Taken,
  next: Instance | null | 'stays',
): SnapshotRecord {
  const { store } = engine
  const totalMs = msSince(began)
  const { id, image, captured, memory, sizes, durable } = taken
  const timing = { ...taken.timing, totalMs }
  return store.transaction(() => {
    lease.requireHeld()
    store.journal.finish(operation, { totalMs, phases: timing.phases, bytes: sizes.imagesBytes })
    // Only what was taken: its name and labels may have been changed meanwhile.
    const ready = store.snapshots.update(id, {
      ...{ status: 'ready', image, captured, sizes, durable, timing },
      ...(memory !== undefined && { memory }),
    })
    // Copied files are beside the environment's line of layers, not under it.
    if (next === 'stays') return ready
    const status = next === null ? 'released' : record.status
    store.environments.update(record.id, { head: id, instance: next, status })
    return ready
  })
}
