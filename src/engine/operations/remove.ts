import { killPoint } from '../../linux/kill-points.ts'
import type { EnvironmentId } from '../../model/ids.ts'
import { patience } from '../../model/values/patience.ts'
import { withoutUndefined } from '../../model/values/without-undefined.ts'
import { removeUnusedNotes } from '../copying/copy-notes.ts'
import type { Engine } from '../engine.ts'
import { noteCommands } from '../history/command-log.ts'
import { secureLastCopy } from '../proofs/last-copy.ts'
import { recoverEnvironment } from '../recovery/recover.ts'
import { unlessUnreachable } from '../recovery/unreachable.ts'
import { discardSpares } from '../spares/discard.ts'
import type { CauseOptions } from './pause.ts'
import type { EndOptions } from './restore.ts'

/** How long to wait for a running operation; after that it may be stuck, and loses its lease. */
const longestSeconds = 30

/**
 * Ends an environment and removes everything it had, even while another operation works on it. Safe to
 * repeat: it completes a removal that was killed.
 */
export async function remove(
  engine: Engine,
  id: EnvironmentId,
  { force = false, cause }: EndOptions & CauseOptions = {},
): Promise<void> {
  const { store } = engine
  await using lease = await store.leases.seize(`env:${id}`, 'remove', {
    timeoutMs: patience(longestSeconds),
  })
  // An environment that cannot be recovered can still be removed; the next process finds the rest. If
  // we seized the lease from a live process, that process cleans up when it notices.
  if (lease.loser === null) await recoverEnvironment(engine, id)
  const record = store.environments.get(id)
  if (!record) return await freeIfUnused(engine)
  if (!force) await secureLastCopy(engine, record)
  const operation = store.transaction(() => {
    store.environments.update(id, { status: 'removing' })
    const { name } = record
    return store.journal.begin('remove', id, withoutUndefined({ name: name ?? undefined, cause }))
  })
  killPoint('remove:recorded')
  await noteCommands(engine, record)
  engine.transports.cut(id)
  try {
    await discardSpares(engine, { environmentId: id })
    await engine.backend(record.backend).destroy(id)
    store.environments.remove(id)
    killPoint('remove:forgotten')
    await freeIfUnused(engine)
    killPoint('remove:freed')
  } catch (error) {
    store.journal.fail(operation, error)
    throw error
  }
  store.journal.finish(operation)
}

/** Removes notes that nobody has any more, and frees what all environments of a backend share, once the last one is gone. */
export async function freeIfUnused(engine: Engine): Promise<void> {
  await removeUnusedNotes(engine)
  const { environments, snapshots } = engine.store
  const left = () => {
    if (environments.any()) return 'environments'
    return snapshots.any() ? 'snapshots' : 'nothing'
  }
  if (left() === 'environments') return
  // A flush in progress keeps what they share busy.
  await Promise.all([discardSpares(engine), engine.flushes.all()])
  for (const { machine } of engine.backends()) {
    await unlessUnreachable(engine, undefined, async () => await machine?.freeUnused(left))
  }
}
