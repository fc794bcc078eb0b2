import { realpath } from 'node:fs/promises'
import { defaultBackend } from '../../backends/registry.ts'
import { killPoint } from '../../linux/kill-points.ts'
import type {
  BackendName,
  EnvironmentRecord,
  Limits,
  MemoryMode,
  NetMode,
  Source,
  SourceRequest,
} from '../../model/environment.ts'
import { InvalidInputError, NotFoundError } from '../../model/errors.ts'
import { newEnvironmentId } from '../../model/ids.ts'
import { parseName } from '../../model/names.ts'
import { quote } from '../../model/quote.ts'
import { formatSource, parseSource } from '../../model/source.ts'
import { introduce } from '../agents.ts'
import type { Engine } from '../engine.ts'
import { checked } from '../inputs/checked.ts'
import { createInput } from '../inputs/environment-inputs.ts'
import { warn } from '../recovery/recover.ts'
import { createFromSnapshot, snapshotSource } from './from-snapshot.ts'
import { hostnameOf, identityOf } from './identity.ts'
import { releaseIfUnused } from './remove.ts'

export interface CreateOptions {
  /**
   * what its files are: `host` (default), `dir:PATH`, `rootfs:PATH`, or the same as an object.
   * `snapshot:ID` is a fork of it, which takes a name and labels only
   */
  readonly from?: string | SourceRequest
  readonly name?: string
  readonly backend?: BackendName
  /** absent: the limits of the configuration */
  readonly limits?: Limits
  readonly net?: NetMode
  /** how its forks come by their memory; absent: as the configuration says */
  readonly memory?: MemoryMode
  /** addresses of the host or its neighbours that may be reached all the same, as CIDRs */
  readonly netAllow?: readonly string[]
  /** variables of every command */
  readonly env?: Readonly<Record<string, string>>
  readonly labels?: Readonly<Record<string, string>>
  /** where commands start; absent: the directory of `dir:`, else root's home */
  readonly workdir?: string
  readonly signal?: AbortSignal
}

/** Makes an environment and waits until its agent answers. */
export async function create(engine: Engine, given: CreateOptions): Promise<EnvironmentRecord> {
  const options = checked('create', createInput, given)
  options.signal?.throwIfAborted()
  const snapshot = snapshotSource(options)
  if (snapshot !== undefined) return await createFromSnapshot(engine, snapshot, options)
  const draft = await plan(engine, options)
  const backend = engine.backend(draft.backend)
  await using lease = await engine.store.leases.acquire(`env:${draft.id}`, 'create')
  const operation = engine.store.transaction(() => {
    engine.store.environments.insert(draft)
    return engine.store.journal.begin('create', draft.id)
  })
  try {
    killPoint('create:recorded')
    const instance = await backend.create({ ...draft, identity: identityOf(draft) })
    engine.store.environments.update(draft.id, { instance })
    killPoint('create:instance')
    await introduce(engine, draft, instance)
    killPoint('create:introduced')
    options.signal?.throwIfAborted()
    const record = engine.store.transaction(() => {
      lease.requireHeld()
      engine.store.journal.finish(operation)
      return engine.store.environments.update(draft.id, { status: 'running' })
    })
    killPoint('create:finished')
    return record
  } catch (error) {
    try {
      await undo(engine, draft)
      engine.store.journal.fail(operation, error)
    } catch (left) {
      // It stays open: whoever comes next tries again. What went wrong first is what the caller needs.
      warn(engine, operation, left as Error)
    }
    throw error
  }
}

/** The record as it will be, everything in it checked. */
async function plan(engine: Engine, options: CreateOptions): Promise<EnvironmentRecord> {
  const { settings } = engine
  const id = newEnvironmentId()
  const name = options.name === undefined ? null : parseName(options.name)
  const backend = options.backend ?? defaultBackend
  const source = await resolveSource(options.from ?? 'host')
  const { workdir } = await engine.backend(backend).validate(source)
  return {
    ...{ id, name, backend, source, head: null, instance: null, status: 'creating' },
    limits: { ...settings.limits, ...options.limits },
    net: { mode: options.net ?? settings.net.mode, allow: options.netAllow ?? [] },
    memory: options.memory ?? settings.memory,
    env: options.env ?? {},
    labels: options.labels ?? {},
    workdir: options.workdir ?? workdir,
    hostname: hostnameOf(name, id),
    createdAt: Date.now(),
  }
}

async function resolveSource(from: string | SourceRequest): Promise<Source> {
  const request = parseSource(typeof from === 'string' ? from : formatSource(from))
  switch (request.kind) {
    case 'dir':
    case 'rootfs':
      return { kind: request.kind, path: await existing(request.path) }
    case 'dockerfile':
      return { kind: 'dockerfile', dir: await existing(request.dir) }
    case 'snapshot':
      throw new InvalidInputError('an environment from a snapshot is a fork of it')
    default:
      return request
  }
}

async function existing(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    throw new NotFoundError(`no such directory: ${quote(path)}`, { cause: error })
  }
}

async function undo(engine: Engine, record: EnvironmentRecord): Promise<void> {
  await engine.connections.close(record.id)
  await engine.backend(record.backend).destroy(record.id)
  engine.store.environments.remove(record.id)
  await releaseIfUnused(engine)
}
