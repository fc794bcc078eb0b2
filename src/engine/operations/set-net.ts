import { isDeepStrictEqual } from 'node:util'
import type { Input } from '../../api/contract/contract.ts'
import type { ChangedNet } from '../../backends/facets.ts'
import { killPoint } from '../../linux/kill-points.ts'
import type { EnvironmentRecord, NetSpec } from '../../model/environment.ts'
import { InvalidInputError } from '../../model/errors.ts'
import { withoutUndefined } from '../../model/values/without-undefined.ts'
import type { Lease } from '../../store/leases.ts'
import { requireCapability, requireFacet, requireOfLife } from '../capabilities.ts'
import type { Engine } from '../engine.ts'
import { removeAfterSeizure } from '../recovery/give-back.ts'
import { currentRecord } from '../recovery/liveness.ts'
import { putBackNet } from '../recovery/put-back-net.ts'
import { hold } from '../recovery/recover.ts'
import { undoFailed } from '../recovery/undo-failed.ts'
import { discardSpares } from '../spares/discard.ts'
import { netSpec } from './net-spec.ts'

interface NetResult extends Pick<ChangedNet, 'cut'> {
  readonly record: EnvironmentRecord
}

/**
 * Changes the network of an environment while its programs run. Snapshots keep the network that it had when
 * they were taken, for what is forked from them; restoring one does not change the environment's own.
 */
export async function setNet(
  engine: Engine,
  { id, mode, ...lists }: Input<'environment.net'>,
): Promise<NetResult> {
  if (mode === 'none' && Object.values(lists).some((list) => list !== undefined)) {
    throw new InvalidInputError('an environment without a network reaches no other networks', {
      remedy: 'use the network mode nat, or leave out the networks that it may and may not reach',
    })
  }
  await using lease = await hold(engine, id, 'net')
  const record = await currentRecord(engine, id)
  const { allow, denyOut, allowOut } = record.net
  const net = netSpec(mode, { allow, denyOut, allowOut, ...withoutUndefined(lists) })
  if (isDeepStrictEqual(net, record.net)) return { record, cut: [] }
  const backend = engine.backend(record.backend)
  requireOfLife(backend, record.instance, 'net-switch')
  if (mode === 'nat') requireCapability(backend, 'nat')
  const changed = await change(engine, lease, record, net)
  // Those that were prepared have the network as it was. Nobody takes one while we hold the environment.
  await discardSpares(engine, { environmentId: id })
  return changed
}

async function change(
  engine: Engine,
  lease: Lease,
  record: EnvironmentRecord,
  net: NetSpec,
): Promise<NetResult> {
  const { store } = engine
  const { id, instance, limits } = record
  const networking = requireFacet(engine.backend(record.backend), 'networking')
  const operation = store.journal.begin('net', id)
  killPoint('net:begun')
  try {
    // One without processes gets it with its next life.
    const changed = instance && (await networking.change({ id, instance }, { net, limits }))
    killPoint('net:changed')
    return store.transaction(() => {
      lease.requireHeld()
      store.journal.finish(operation)
      const next = { net, ...(changed && { instance: changed.instance }) }
      return { record: store.environments.update(id, next), cut: changed?.cut ?? [] }
    })
  } catch (error) {
    await undoFailed(engine, operation, error, () =>
      lease.isHeld() ? putBackNet(engine, record) : removeAfterSeizure(engine, record),
    )
    throw error
  }
}
