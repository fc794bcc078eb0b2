import type { EnvironmentRecord, Instance, Json } from '../model/environment.ts'
import { BackendError } from '../model/errors.ts'
import { type EnvironmentId, newSnapshotId } from '../model/ids.ts'
import { parseName } from '../model/names.ts'
import type { SnapshotRecord } from '../model/snapshot.ts'
import type { Operation } from '../store/journal.ts'
import { killPoint } from '../system/kill-points.ts'
import { closeConnections, greet } from './agents.ts'
import type { Engine } from './engine.ts'
import { type LiveRecord, liveRecord } from './liveness.ts'
import { materialize } from './materialize.ts'
import { retire } from './spares/discard.ts'
import { afterSnapshot } from './spares/wants.ts'

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
  options: SnapshotOptions,
): Promise<SnapshotRecord> {
  const taken = await despiteLateConnections(() => takeAlone(engine, id, options))
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

/** A client that connects just before the freeze is met by the dump; the next try closes it, too. */
async function despiteLateConnections<T>(take: () => Promise<T>): Promise<T> {
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
  await using _lease = await engine.store.leases.acquire(`env:${id}`, 'snapshot', options)
  options.signal?.throwIfAborted()
  const draft = begin(engine, id, options, 'snapshot')
  const { record, operation } = draft
  try {
    const taken = await take(engine, draft, options.mode ?? 'full')
    if (options.mode === 'filesystem') return commit(engine, draft, taken, 'stays')
    const { next, ended } = await succeed(engine, draft, taken)
    const ready = commit(engine, draft, ended, next)
    killPoint('snapshot:committed')
    engine.background.startSoon(() => engine.backend(record.backend).end(id, record.instance))
    return ready
  } catch (error) {
    await undo(engine, draft)
    engine.store.journal.fail(operation, error)
    throw error
  }
}

/** Takes a snapshot and ends the environment's processes: `pause --release`. */
export async function release(engine: Engine, id: EnvironmentId): Promise<SnapshotRecord> {
  await using _lease = await engine.store.leases.acquire(`env:${id}`, 'release')
  const draft = begin(engine, id, {}, 'release')
  try {
    const taken = await take(engine, draft, 'full')
    const ready = commit(engine, draft, taken, null)
    killPoint('release:committed')
    await retire(engine, draft.record, null)
    // Only the snapshot is left of the environment: it has to last.
    await engine.flushes.start(ready)
    return ready
  } catch (error) {
    await undo(engine, draft)
    engine.store.journal.fail(draft.operation, error)
    throw error
  }
}

interface Draft {
  readonly record: LiveRecord
  readonly snapshot: SnapshotRecord
  readonly operation: Operation
  readonly began: number
}

/** Writes down what is about to happen. */
function begin(
  engine: Engine,
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
  return { record, snapshot: draft, operation, began: performance.now() }
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
  mode: 'full' | 'filesystem',
): Promise<Taken> {
  const { instance } = record
  const backend = engine.backend(record.backend)
  // A frozen agent can close nothing: a paused environment is woken for a moment.
  if (record.status === 'paused') await backend.resume(record.id, instance)
  if (mode === 'full') await closeConnections(engine, record, instance)
  const memory = record.memory ?? engine.settings.memory
  const head = record.head === null ? null : (engine.store.snapshots.get(record.head) ?? null)
  const result = await backend.capture(record.id, instance, draft.id, { mode, memory, head })
  return {
    ...draft,
    image: result.image,
    captured: result.captured,
    ...(result.memory && { memory: result.memory }),
    sizes: { filesBytes: null, imagesBytes: result.imagesBytes },
    timing: { ...draft.timing, pauseMs: since(result.frozenAt), phases: result.phases },
  }
}

/** The environment's next life, over what was sealed. */
async function succeed(
  engine: Engine,
  { record }: Draft,
  taken: Taken,
): Promise<{ next: Instance; ended: Taken }> {
  const backend = engine.backend(record.backend)
  const began = performance.now()
  const next = await materialize(engine, record, taken, {
    ...{ replaces: record.instance, role: 'successor' },
  })
  const made = { name: 'materialize', ms: since(began) }
  const alive = performance.now()
  await greet(engine, record, next)
  if (record.status === 'paused') await backend.pause(record.id, next)
  const swap = { name: 'swap', ms: since(alive) }
  const { pauseMs, phases } = taken.timing
  const timing = {
    ...{ totalMs: 0, pauseMs: Math.round((pauseMs + made.ms) * 100) / 100 },
    phases: [...phases, made, swap],
  }
  return { next, ended: { ...taken, timing } }
}

function commit(
  engine: Engine,
  { record, operation, began }: Draft,
  taken: Taken,
  next: Instance | null | 'stays',
): SnapshotRecord {
  const { store } = engine
  const totalMs = since(began)
  return store.transaction(() => {
    const { phases } = taken.timing
    store.journal.finish(operation, { totalMs, phases, bytes: taken.sizes.imagesBytes })
    const ready = store.snapshots.update(taken.id, {
      ...taken,
      status: 'ready',
      timing: { ...taken.timing, totalMs },
    })
    // Copied files are beside the environment's line of layers, not under it.
    if (next === 'stays') return ready
    const status = next === null ? 'released' : record.status
    store.environments.update(record.id, { head: taken.id, instance: next, status })
    return ready
  })
}

async function undo(engine: Engine, { record, snapshot: draft }: Draft): Promise<void> {
  const { instance } = record
  const backend = engine.backend(record.backend)
  await retire(engine, record, instance)
  await backend.uncapture(record.id, instance, draft.id)
  if (record.status === 'paused') await backend.pause(record.id, instance)
  engine.store.snapshots.remove(draft.id)
}

/** Milliseconds, to the hundredth. */
function since(began: number): number {
  return Math.round((performance.now() - began) * 100) / 100
}
