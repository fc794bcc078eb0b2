import type { CaptureOptions, CaptureResult } from '../../../backends/backend.ts'
import { killPoint } from '../../../linux/kill-points.ts'
import { msSince, roundMs, stopwatch } from '../../../linux/stopwatch.ts'
import type { Instance } from '../../../model/environment.ts'
import { BackendError } from '../../../model/errors.ts'
import type { EnvironmentId } from '../../../model/ids.ts'
import type { Cause } from '../../../model/policy.ts'
import type { SnapshotRecord } from '../../../model/snapshot.ts'
import { closeConnections, greet } from '../../agents.ts'
import { capabilitiesOfLife, requireFacet } from '../../capabilities.ts'
import type { Engine } from '../../engine.ts'
import { noteCommands } from '../../history/command-log.ts'
import { reserveCopies } from '../../memory/copy-memory.ts'
import { requireWithinLimits } from '../../memory/limits.ts'
import { rehearse } from '../../proofs/prove.ts'
import { isItsOwnFault } from '../../proofs/record-proof.ts'
import { giveBackUnlessSeized } from '../../recovery/give-back.ts'
import { hold } from '../../recovery/recover.ts'
import { undoFailed } from '../../recovery/undo-failed.ts'
import { rememberShells } from '../../shells/remember-shells.ts'
import { retire } from '../../spares/discard.ts'
import { afterSnapshot } from '../../spares/wants.ts'
import { materialize } from '../materialize.ts'
import { type CauseOptions, sleptNow } from '../pause.ts'
import { requireNothingLost } from '../require-nothing-lost.ts'
import { begin, type Draft, type SnapshotOptions } from './snapshot-draft.ts'

/**
 * Takes a snapshot. The environment continues as the snapshot's first child. If anything fails, it
 * continues as if nobody had asked.
 */
export async function snapshot(
  engine: Engine,
  id: EnvironmentId,
  options: SnapshotOptions,
): Promise<SnapshotRecord> {
  const taken = await retryTemporaryFailures(() => takeExclusively(engine, id, options))
  engine.spares.want(afterSnapshot(taken))
  engine.squashes.start(taken)
  if (taken.durable) return taken
  if (!options.durable) {
    engine.flushes.startSoon(taken)
    return taken
  }
  await engine.flushes.start(taken)
  return engine.store.snapshots.resolve(taken.id)
}

const mostTries = 3

/**
 * Tries again after a failure that may not happen twice: a client connected just before the freeze, or
 * a shell was just starting on its terminal.
 */
async function retryTemporaryFailures<T>(take: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await take()
    } catch (error) {
      const isTemporary = error instanceof BackendError && error.isTemporary
      if (!isTemporary || tries === mostTries) throw error
    }
  }
}

async function takeExclusively(
  engine: Engine,
  id: EnvironmentId,
  options: SnapshotOptions,
): Promise<SnapshotRecord> {
  await using lease = await hold(engine, id, 'snapshot', options)
  options.signal?.throwIfAborted()
  const draft = await begin(engine, lease, id, options, { kind: 'snapshot' })
  const { record, mode } = draft
  const { ready, original } = await orGiveBack(engine, draft, async () => {
    const { taken, original } = await take(engine, draft, 'continue', options)
    options.signal?.throwIfAborted()
    if (options.strict) requireNothingLost(taken)
    if (original === 'runs') {
      if (mode === 'full') await pauseAgain(engine, record, record.instance)
      return { ready: commit(engine, draft, taken, { next: record.instance }), original }
    }
    const { next, ended } = await startSuccessor(engine, draft, taken)
    return { ready: commit(engine, draft, ended, { next }), original }
  })
  killPoint('snapshot:committed')
  if (ready.durable) engine.events.emit({ type: 'durable', snapshot: ready.id, at: Date.now() })
  if (original === 'awaits-successor') {
    engine.background.startWhenQuiet(() => engine.backend(record.backend).end(record))
  }
  return ready
}

/** Takes a snapshot and ends the environment's processes: `pause --release`. */
export async function release(
  engine: Engine,
  id: EnvironmentId,
  { cause }: CauseOptions = {},
): Promise<SnapshotRecord> {
  await using lease = await hold(engine, id, 'release')
  const wanted = { mode: 'full', durable: true, by: 'pause' } as const
  const draft = await begin(engine, lease, id, wanted, { kind: 'release', cause })
  await noteCommands(engine, draft.record)
  const ready = await orGiveBack(engine, draft, async () => {
    const { taken } = await take(engine, draft, 'stay-frozen')
    // Only the snapshot will be left of the environment, so it must be durable, and must restore.
    await rehearse(engine, taken, draft.record.instance).catch((error) => {
      throw isItsOwnFault(error) ? notReleased(draft.record, error) : error
    })
    killPoint('release:proven')
    const proven: Taken = { ...(await flushed(engine, taken)), proof: 'proven' }
    return commit(engine, draft, proven, { next: null, cause })
  })
  killPoint('release:committed')
  engine.events.emit({ type: 'durable', snapshot: ready.id, at: Date.now() })
  await retire(engine, draft.record, null)
  return ready
}

function notReleased({ id, name }: Draft['record'], error: BackendError): BackendError {
  const { remedy, detail, lastWords, logPath } = error
  return new BackendError(
    `${name ?? id} was not released and continues: its snapshot could not be restored: ${error.message}`,
    { remedy, detail, lastWords, logPath, cause: error },
  )
}

async function flushed(engine: Engine, taken: Taken): Promise<Taken> {
  if (taken.durable) return taken
  const storage = requireFacet(engine.backend(taken.backend), 'storage', 'durable')
  const { filesBytes } = await storage.flush(taken)
  return { ...taken, sizes: { ...taken.sizes, filesBytes }, durable: true }
}

/** `work` ends with the commit; after that, nothing can be given back. */
async function orGiveBack<T>(
  engine: Engine,
  { lease, record, snapshot: { id }, operation }: Draft,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    await undoFailed(engine, operation, error, () =>
      giveBackUnlessSeized(engine, lease, record, id),
    )
    throw error
  }
}

/** The record as it will be, except for its status and total time. */
type Taken = SnapshotRecord

async function take(
  engine: Engine,
  { record, snapshot: draft, mode }: Draft,
  after: CaptureOptions['after'],
  { signal, live }: Pick<SnapshotOptions, 'signal' | 'live'> = {},
): Promise<{ readonly taken: Taken; readonly original: CaptureResult['original'] }> {
  const backend = engine.backend(record.backend)
  if (mode === 'full') {
    // A frozen agent cannot close anything, so a paused environment runs for a moment.
    if (record.status === 'paused') await requireFacet(backend, 'pausing').resume(record)
    await closeConnections(engine, record, record.instance, { signal })
  }
  const keepsShells = capabilitiesOfLife(backend, record.instance).has('terminal')
  const shells = keepsShells ? [] : await rememberShells(engine, record)
  const memory = record.memory ?? engine.settings.memory
  const head = record.head === null ? null : (engine.store.snapshots.get(record.head) ?? null)
  const wanted = { mode, memory, after, head, live, signal }
  const result = await backend.capture(record, draft.id, wanted)
  const { image, captured, durable, filesBytes, imagesBytes, phases, original } = result
  const taken: Taken = {
    ...draft,
    image,
    captured,
    proof: captured.includes('processes') && backend.spares ? 'unproven' : 'proven',
    durable,
    original: original === 'awaits-successor' ? 'replaced' : 'kept',
    ...(result.memory && { memory: result.memory }),
    ...(shells.length > 0 && { shells }),
    ...(result.lost && { lost: result.lost }),
    sizes: { filesBytes, imagesBytes },
    timing: { ...draft.timing, pauseMs: pauseOf(result), phases },
  }
  return { taken, original }
}

/** The longest time that nothing ran, so far. */
function pauseOf({ frozenAt, thawedAt, earlierStopMs = 0 }: CaptureResult): number {
  return roundMs(Math.max(earlierStopMs, (thawedAt ?? performance.now()) - frozenAt))
}

/** Nothing runs inside meanwhile. */
const longestHoldMs = 1000

/** Starts the environment's next life on top of the new layer. */
async function startSuccessor(
  engine: Engine,
  { record }: Draft,
  taken: Taken,
): Promise<{ next: Instance; ended: Taken }> {
  const watch = stopwatch()
  requireWithinLimits(taken, record.limits)
  using memory = await reserveCopies(engine, taken, { count: 1, patienceMs: longestHoldMs })
  const successor = { replaces: record.instance, role: 'successor' } as const
  const next = await watch.measure('materialize', () =>
    memory.fill(() => materialize(engine, record, taken, successor)),
  )
  const pauseMs = roundMs(taken.timing.pauseMs + (watch.phases[0]?.ms ?? 0))
  await watch.measure('swap', async () => {
    await greet(engine, record, next)
    await pauseAgain(engine, record, next)
  })
  const phases = [...taken.timing.phases, ...watch.phases]
  return { next, ended: { ...taken, proof: 'proven', timing: { totalMs: 0, pauseMs, phases } } }
}

/** Pauses an environment again that ran only for its snapshot. */
async function pauseAgain(
  engine: Engine,
  { id, backend, status }: Draft['record'],
  instance: Instance,
): Promise<void> {
  if (status !== 'paused') return
  await requireFacet(engine.backend(backend), 'pausing').pause({ id, instance })
}

function commit(
  engine: Engine,
  { lease, record, operation, mode, began }: Draft,
  taken: Taken,
  { next, cause }: { readonly next: Instance | null; readonly cause?: Cause | undefined },
): SnapshotRecord {
  const { store } = engine
  const totalMs = msSince(began)
  const { id, image, proof, captured, original, memory, shells, lost, sizes, durable } = taken
  const timing = { ...taken.timing, totalMs }
  return store.transaction(() => {
    lease.requireHeld()
    store.journal.finish(operation, { totalMs, phases: timing.phases, bytes: sizes.imagesBytes })
    // Only what was captured: somebody may have changed its name and labels meanwhile.
    const ready = store.snapshots.update(id, {
      status: 'ready',
      proof,
      image,
      captured,
      original,
      sizes,
      durable,
      timing,
      ...(memory !== undefined && { memory }),
      ...(shells !== undefined && { shells }),
      ...(lost !== undefined && { lost }),
    })
    // A snapshot without its processes is not part of the environment's line if the backend can take them.
    const capabilities = capabilitiesOfLife(engine.backend(record.backend), record.instance)
    const isComplete = mode === 'full' || !capabilities.has('processes')
    if (!isComplete) return ready
    const after = next === null ? ({ status: 'released', sleptAt: sleptNow(cause) } as const) : {}
    store.environments.update(record.id, { head: id, instance: next, ...after })
    return ready
  })
}
