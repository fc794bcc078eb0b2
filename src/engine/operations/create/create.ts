import { realpath } from 'node:fs/promises'
import { makeDirectory, statFile } from '../../../agent/files/files.ts'
import type { Input } from '../../../api/contract/contract.ts'
import type { CallOptions } from '../../../api/control.ts'
import type { Backend, CreateSpec, ValidSource } from '../../../backends/backend.ts'
import { killPoint } from '../../../linux/kill-points.ts'
import { capabilityOf } from '../../../model/capabilities.ts'
import type {
  EnvironmentRecord,
  Instance,
  Source,
  SourceRequest,
} from '../../../model/environment.ts'
import { InvalidInputError, NotFoundError } from '../../../model/errors.ts'
import { quote } from '../../../model/text/quote.ts'
import { connectTo, introduce } from '../../agents.ts'
import { capabilitiesOfLife, requireCapability } from '../../capabilities.ts'
import type { Engine } from '../../engine.ts'
import { undoFailed } from '../../recovery/undo-failed.ts'
import { identityOf } from '../identity.ts'
import { freeIfUnused } from '../remove.ts'
import { acceptExtras, backendFor, withExtras } from './chosen-backend.ts'
import { draftFor } from './environment-draft.ts'
import { startCommandOf } from './first-command.ts'
import { createFromSnapshot, snapshotSource } from './from-snapshot.ts'
import { loginPath } from './login-path.ts'

export type CreateOptions = Input<'environment.create'> & CallOptions

/** Makes an environment, and waits until its agent answers. */
export async function create(engine: Engine, options: CreateOptions): Promise<EnvironmentRecord> {
  options.signal?.throwIfAborted()
  const snapshot = snapshotSource(options)
  if (snapshot !== undefined) return await createFromSnapshot(engine, snapshot, options)
  const { draft, kept } = await plan(engine, options)
  const backend = engine.backend(draft.backend)
  await using lease = await engine.store.leases.acquire(`env:${draft.id}`, 'create')
  const operation = engine.store.transaction(() => {
    engine.store.environments.insert(draft)
    return engine.store.journal.begin('create', draft.id)
  })
  try {
    killPoint('create:recorded')
    const spec = { ...draft, identity: identityOf(draft), ...kept }
    const instance = await backend.create(spec, options.signal)
    engine.store.environments.update(draft.id, { instance })
    killPoint('create:instance')
    await introduce(engine, draft, instance)
    if (wantsLogin(engine, options)) await logIn(engine, draft, instance)
    if (draft.image !== undefined) await makeImageDirectories(engine, draft, instance)
    if (options.workdir !== undefined) await makeWorkdir(engine, draft, instance)
    await startCommandOf(engine, draft, instance)
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
    await undoFailed(engine, operation, error, () => undo(engine, draft))
    throw error
  }
}

/** One that somebody asked for exists, or nothing is made. */
async function makeWorkdir(
  engine: Engine,
  record: EnvironmentRecord,
  instance: Instance,
): Promise<void> {
  await using connection = await connectTo(engine, record, instance)
  const { workdir } = record
  // Without files of its own, it would be made on the host.
  const isOwn = capabilitiesOfLife(engine.backend(record.backend), instance).has('identity')
  if (isOwn) return await makeDirectory(connection, workdir, { parents: true })
  const { type } = await statFile(connection, workdir)
  if (type === 'directory') return
  throw new InvalidInputError(`the working directory ${quote(workdir)} is not a directory`, {
    remedy: 'name a directory with --workdir',
  })
}

/** A PATH that was given is not replaced. */
function wantsLogin({ settings }: Engine, { login = settings.shell.login, env }: CreateOptions) {
  return login && env?.PATH === undefined
}

/** Everything inside gets the PATH of a login shell from now on, also in forks. */
async function logIn(engine: Engine, draft: EnvironmentRecord, instance: Instance): Promise<void> {
  const env = { ...draft.env, PATH: await loginPath(engine, draft, instance) }
  engine.store.environments.update(draft.id, { env })
  await introduce(engine, { ...draft, env }, instance)
}

/** An image may name directories that it does not have. A container engine makes them, too. */
async function makeImageDirectories(
  engine: Engine,
  record: EnvironmentRecord,
  instance: Instance,
): Promise<void> {
  await using connection = await connectTo(engine, record, instance)
  for (const path of [record.workdir, ...(record.image?.volumes ?? [])]) {
    await makeDirectory(connection, path, { parents: true }).catch((err: unknown) =>
      // Shells then start in `/`, as in an environment whose workdir was removed.
      engine.log.warn(
        { environment: record.id, path, err },
        'cannot make a directory of the image',
      ),
    )
  }
}

interface Plan {
  readonly draft: EnvironmentRecord
  /** only for the backend */
  readonly kept: Pick<CreateSpec, 'extras'>
}

/** The record as it will be, with everything in it checked. */
async function plan(engine: Engine, options: CreateOptions): Promise<Plan> {
  const backend = backendFor(engine, options)
  const extras = await acceptExtras(backend, options)
  const source = await resolveSource(options.from ?? { kind: 'host' })
  requireCapability(backend, capabilityOf(source))
  const draftOf = draftFor(engine, backend, withExtras(options, extras))
  const draft = draftOf(source, await validate(engine, backend, source, options.signal))
  const { hostname = draft.hostname, kept } = extras ?? {}
  return { draft: { ...draft, hostname }, kept: kept === undefined ? {} : { extras: kept } }
}

/** An image that cannot be used may have been the first thing in its home. */
async function validate(
  engine: Engine,
  backend: Backend,
  source: Source,
  signal: AbortSignal | undefined,
): Promise<ValidSource> {
  try {
    return await backend.validate(source, signal)
  } catch (error) {
    await freeIfUnused(engine).catch((err: unknown) =>
      engine.log.warn({ err }, 'cannot free what nobody needs; the next removal tries again'),
    )
    throw error
  }
}

async function resolveSource(request: SourceRequest): Promise<Source> {
  switch (request.kind) {
    case 'dir':
    case 'rootfs':
    case 'oci':
      return { kind: request.kind, path: await existing(request.path, 'directory') }
    case 'archive':
      return { kind: 'archive', path: await existing(request.path, 'file') }
    case 'dockerfile':
      return { kind: 'dockerfile', dir: await existing(request.dir, 'directory') }
    case 'snapshot':
      throw new InvalidInputError('a snapshot cannot be the source of an environment', {
        remedy: 'fork the snapshot instead',
      })
    default:
      return request
  }
}

async function existing(path: string, what: 'directory' | 'file'): Promise<string> {
  try {
    return await realpath(path)
  } catch (error) {
    throw new NotFoundError(`no such ${what}: ${quote(path)}`, {
      remedy: `give the path of a ${what} that exists`,
      cause: error,
    })
  }
}

async function undo(engine: Engine, record: EnvironmentRecord): Promise<void> {
  await engine.backend(record.backend).destroy(record.id)
  engine.store.environments.remove(record.id)
  await freeIfUnused(engine)
}
