import type { Input } from '../../../api/contract/contract.ts'
import type { CallOptions } from '../../../api/control.ts'
import type { Backend, CaptureOptions } from '../../../backends/backend.ts'
import { killPoint } from '../../../linux/kill-points.ts'
import type { EnvironmentRecord } from '../../../model/environment.ts'
import { type EnvironmentId, newSnapshotId } from '../../../model/ids.ts'
import type { Cause, Policy } from '../../../model/policy.ts'
import type { SnapshotMaker, SnapshotRecord } from '../../../model/snapshot.ts'
import { notForeign } from '../../../model/unsupported.ts'
import { inheritedLabels } from '../../../model/values/labels.ts'
import { parseName } from '../../../model/values/names.ts'
import type { Operation } from '../../../store/journal.ts'
import type { Lease } from '../../../store/leases.ts'
import {
  capabilitiesOfLife,
  isForeign,
  requireCapability,
  requireOfLife,
} from '../../capabilities.ts'
import type { Engine } from '../../engine.ts'
import { type LiveRecord, liveRecord } from '../../recovery/liveness.ts'

export type SnapshotOptions = Omit<Input<'environment.snapshot'>, 'id'> &
  CallOptions & {
    /** absent: a caller asked for it */
    readonly by?: SnapshotMaker
  }

/** A snapshot that is being taken; it is recorded before anything is written. */
export interface Draft {
  readonly lease: Lease
  readonly record: LiveRecord
  readonly snapshot: SnapshotRecord
  readonly mode: CaptureOptions['mode']
  readonly operation: Operation
  readonly began: number
}

/** The mode that the caller asked for, if the backend supports it; by default, everything it can capture. */
function modeFor(
  backend: Backend,
  { instance }: LiveRecord,
  { mode, durable }: SnapshotOptions,
): CaptureOptions['mode'] {
  requireCapability(backend, 'filesystem')
  if (mode === 'full') requireOfLife(backend, instance, 'processes')
  if (durable) requireCapability(backend, 'durable')
  return mode ?? (capabilitiesOfLife(backend, instance).has('processes') ? 'full' : 'filesystem')
}

/** Records what is about to happen. */
export async function begin(
  engine: Engine,
  lease: Lease,
  id: EnvironmentId,
  options: SnapshotOptions,
  { kind, cause }: { readonly kind: 'snapshot' | 'release'; readonly cause?: Cause | undefined },
): Promise<Draft> {
  const { store } = engine
  const record = await liveRecord(engine, id)
  const backend = engine.backend(record.backend)
  // Releasing it would end what we did not start.
  if (kind === 'release' && isForeign(backend, record.instance)) {
    throw notForeign(backend.name, 'pause')
  }
  const mode = modeFor(backend, record, options)
  const snapshot = draftOf(record, options)
  const operation = store.transaction(() => {
    store.snapshots.insert(snapshot)
    return store.journal.begin(kind, id, { snapshot: snapshot.id, ...(cause && { cause }) })
  })
  killPoint('snapshot:begun')
  return { lease, record, snapshot, mode, operation, began: performance.now() }
}

function draftOf(record: LiveRecord, options: SnapshotOptions): SnapshotRecord {
  return {
    id: newSnapshotId(),
    name: options.name === undefined ? null : parseName(options.name),
    environmentId: record.id,
    ...(record.principal !== undefined && { principal: record.principal }),
    parent: record.head,
    by: options.by ?? 'user',
    backend: record.backend,
    status: 'writing',
    proof: 'unproven',
    durable: false,
    captured: [],
    original: 'kept',
    image: {},
    createdAt: Date.now(),
    message: options.message ?? '',
    labels: { ...inheritedLabels(record.labels), ...options.labels },
    metadata: options.metadata ?? null,
    origin: originOf(record),
    sizes: { filesBytes: null, imagesBytes: 0 },
    timing: { pauseMs: 0, totalMs: 0, phases: [] },
  }
}

function originOf(record: EnvironmentRecord): SnapshotRecord['origin'] {
  const { source, limits, net, memory, env, workdir, labels, policy, image, command } = record
  return {
    source,
    limits,
    net,
    env,
    workdir,
    labels,
    ...(policy !== undefined && { policy: withoutSince(policy) }),
    ...(memory !== undefined && { memory }),
    ...(image !== undefined && { image }),
    ...(command !== undefined && { command }),
  }
}

/** The time to live of a fork begins when it is made. */
function withoutSince({ since: _since, ...policy }: Policy): Policy {
  return policy
}
