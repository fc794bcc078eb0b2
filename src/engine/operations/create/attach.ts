import type { Input } from '../../../api/contract/contract.ts'
import type { CallOptions } from '../../../api/control.ts'
import type { Backend } from '../../../backends/backend.ts'
import type { Attaching, AttachSpec, AttachTarget } from '../../../backends/facets.ts'
import { killPoint } from '../../../linux/kill-points.ts'
import type { EnvironmentRecord } from '../../../model/environment.ts'
import { ConflictError, UnsupportedError } from '../../../model/errors.ts'
import { quote } from '../../../model/text/quote.ts'
import { introduce } from '../../agents.ts'
import type { Engine } from '../../engine.ts'
import { undoFailed } from '../../recovery/undo-failed.ts'
import { identityOf } from '../identity.ts'
import { freeIfUnused } from '../remove.ts'
import { acceptExtras, withExtras } from './chosen-backend.ts'
import { draftFor } from './environment-draft.ts'

export type AttachOptions = Input<'environment.attach'> & CallOptions

/** Adopts something that runs, and waits until its agent answers. A failure leaves it as it was. */
export async function attach(engine: Engine, options: AttachOptions): Promise<EnvironmentRecord> {
  const { signal } = options
  signal?.throwIfAborted()
  const backend = engine.backend(options.backend ?? engine.defaultBackend)
  const attaching = attachingOf(engine, backend)
  const extras = await acceptExtras(backend, options)
  const draftOf = draftFor(engine, backend, withExtras(options, extras))
  const target = await attaching.find(options.target, signal)
  // Nobody else adopts the same target meanwhile.
  await using _target = await engine.store.leases.acquire(
    `attach:${backend.name}:${target.key}`,
    'attach',
    { signal },
  )
  requireFree(engine, attaching, backend, target)
  const draft = draftOf({ kind: 'attached', target: target.name }, target)
  const kept = extras === null ? {} : { extras: extras.kept }
  return await adopt(engine, attaching, draft, { target, ...kept }, signal)
}

async function adopt(
  engine: Engine,
  attaching: Attaching,
  draft: EnvironmentRecord,
  wanted: Pick<AttachSpec, 'target' | 'extras'>,
  signal: AbortSignal | undefined,
): Promise<EnvironmentRecord> {
  const { store } = engine
  await using lease = await store.leases.acquire(`env:${draft.id}`, 'attach')
  const operation = store.transaction(() => {
    store.environments.insert(draft)
    return store.journal.begin('attach', draft.id)
  })
  try {
    killPoint('attach:recorded')
    const uses: AttachSpec['uses'] = (image) => {
      store.environments.update(draft.id, { image })
    }
    const spec = { ...draft, ...wanted, identity: identityOf(draft), uses }
    const instance = await attaching.attach(spec, signal)
    store.environments.update(draft.id, { instance })
    killPoint('attach:instance')
    await introduce(engine, draft, instance)
    signal?.throwIfAborted()
    const record = store.transaction(() => {
      lease.requireHeld()
      store.journal.finish(operation)
      return store.environments.update(draft.id, { status: 'running' })
    })
    killPoint('attach:finished')
    return record
  } catch (error) {
    await undoFailed(engine, operation, error, async () => {
      await engine.backend(draft.backend).destroy(draft.id)
      store.environments.remove(draft.id)
      await freeIfUnused(engine)
    })
    throw error
  }
}

function attachingOf(engine: Engine, backend: Backend): Attaching {
  const { name, attaching } = backend
  if (attaching !== undefined) return attaching
  const able = engine.backends().filter((each) => each.attaching !== undefined)
  const names = able.map((each) => each.name)
  throw new UnsupportedError('attach', `the ${name} backend cannot adopt what it did not start`, {
    remedy:
      names.length > 0 ? `use a backend that can: ${names.join(', ')}` : 'no backend here can',
    detail: { backend: name, backends: names },
  })
}

/** Two agents in one target would get in each other's way, and a removal would not know whose is what. */
function requireFree(
  { store }: Engine,
  attaching: Attaching,
  { name }: Backend,
  { key, name: target }: AttachTarget,
): void {
  const holder = store.environments
    .list()
    .find(
      ({ backend, instance }) =>
        backend === name && instance !== null && attaching.keyOf(instance) === key,
    )
  if (holder === undefined) return
  const label = holder.name ?? holder.id
  throw new ConflictError(`${quote(target)} is attached already, as environment ${label}`, {
    remedy: `use ${label}, fork it, or remove it first with \`forkpoint rm ${label}\`, which leaves the target as it was`,
    detail: { environment: holder.id },
  })
}
