import { isDeepStrictEqual } from 'node:util'
import type { environmentOperations } from '../../api/contract/environments.ts'
import type { EnvironmentId } from '../../model/ids.ts'
import { byAgeAndName } from '../../model/values/natural-order.ts'
import { requireCapability } from '../capabilities.ts'
import { noteCopy, readCopyNote } from '../copying/copy-notes.ts'
import type { Engine } from '../engine.ts'
import { commandLog } from '../history/command-log.ts'
import { logEntry, loggedId } from '../history/log.ts'
import { attach } from '../operations/create/attach.ts'
import { create } from '../operations/create/create.ts'
import { fork } from '../operations/fork/fork.ts'
import { forkWithConnections } from '../operations/fork/keep-connections.ts'
import { labelEnvironment } from '../operations/label.ts'
import { pause, resume } from '../operations/pause.ts'
import { promote } from '../operations/promote.ts'
import { remove } from '../operations/remove.ts'
import { rename } from '../operations/rename.ts'
import { restore, revive } from '../operations/restore.ts'
import { setNet } from '../operations/set-net.ts'
import { release, snapshot } from '../operations/snapshot/snapshot.ts'
import { renewed, setPolicy } from '../policies/set-policy.ts'
import { wake } from '../policies/wake.ts'
import { currentRecord, type LiveRecord, liveRecord, markDead } from '../recovery/liveness.ts'
import { forked } from './forked.ts'
import type { Handlers } from './handlers.ts'
import { environmentInfo, snapshotInfo } from './infos.ts'

export const environmentHandlers: Handlers<keyof typeof environmentOperations> = {
  'environment.create': async (engine, input, { signal }) => {
    const record = await create(engine, { ...input, signal })
    return environmentInfo(engine, record)
  },
  'environment.attach': async (engine, input, { signal }) => {
    const record = await attach(engine, { ...input, signal })
    return environmentInfo(engine, record)
  },
  'environment.get': async (engine, { reference }) =>
    environmentInfo(engine, await currentRecord(engine, reference)),
  'environment.list': async (engine, filter) => {
    await markDead(engine)
    const records = engine.store.environments.list(filter)
    return records.sort(byAgeAndName).map((record) => environmentInfo(engine, record))
  },
  'environment.stats': async (engine, { id }) => {
    const { record, stats } = await liveStats(engine, id)
    const head = record.head && engine.store.snapshots.get(record.head)
    const { ioReadBytes = null, ioWriteBytes = null, netBytes = null } = record.limits
    return {
      ...stats,
      headMemory: head?.memory ?? null,
      ioReadLimitBytes: ioReadBytes,
      ioWriteLimitBytes: ioWriteBytes,
      netLimitBytes: netBytes,
    }
  },
  'environment.log': async ({ store }, { reference }) =>
    store.journal.list(loggedId(store, reference)).map(logEntry),
  'environment.commandLog': async (engine, { reference }) => [
    ...(await commandLog(engine, loggedId(engine.store, reference))),
  ],
  'environment.pause': async (engine, { id, release: wantsRelease }) => {
    if (wantsRelease) await release(engine, id)
    else await pause(engine, id)
    return environmentInfo(engine, await currentRecord(engine, id))
  },
  'environment.resume': async (engine, { id }) => {
    const { status, head } = await currentRecord(engine, id)
    const canRevive = status === 'released' || (status === 'dead' && head !== null)
    const record = await (canRevive ? revive(engine, id) : resume(engine, id))
    return environmentInfo(engine, renewed(engine, record))
  },
  'environment.wake': async (engine, { id }) => environmentInfo(engine, await wake(engine, id)),
  'environment.policy': async (engine, input) =>
    environmentInfo(engine, await setPolicy(engine, input)),
  'environment.net': async (engine, input) => {
    const { record, cut } = await setNet(engine, input)
    return { environment: environmentInfo(engine, record), cut: [...cut] }
  },
  'environment.snapshot': async (engine, { id, ...input }, { signal }) =>
    snapshotInfo(await snapshot(engine, id, { ...input, signal })),
  'environment.restore': async (engine, { id, to, ...input }) =>
    environmentInfo(engine, await restore(engine, id, to, input)),
  'environment.fork': async (engine, { id, ...input }) => {
    if (input.connections === 'keep')
      return forked(engine, await forkWithConnections(engine, id, input))
    const { backend } = await liveRecord(engine, id)
    requireCapability(engine.backend(backend), 'fork')
    const base = await snapshot(engine, id, { strict: input.strict ?? false, by: 'fork' })
    return forked(engine, await fork(engine, base, input))
  },
  'environment.promote': async (engine, { id, from, ...input }) =>
    environmentInfo(engine, await promote(engine, from, id, input)),
  'environment.noteCopy': async (engine, input) =>
    environmentInfo(engine, await noteCopy(engine, input)),
  'environment.copyNote': async (engine, input) => await readCopyNote(engine, input),
  'environment.label': async (engine, { id, labels }) =>
    environmentInfo(engine, labelEnvironment(engine, id, labels)),
  'environment.rename': async (engine, { id, name }) =>
    environmentInfo(engine, await rename(engine, id, name)),
  'environment.remove': async (engine, { id, force }) => {
    await remove(engine, id, { force })
    return null
  },
}

/** Of the life that runs. One that ends or is exchanged meanwhile is no failure of the backend. */
async function liveStats(engine: Engine, id: EnvironmentId) {
  const record = await liveRecord(engine, id)
  const read = (of: LiveRecord) => engine.backend(of.backend).stats(of, of.head)
  try {
    return { record, stats: await read(record) }
  } catch (error) {
    const next = await liveRecord(engine, id)
    if (isDeepStrictEqual(next.instance, record.instance)) throw error
    return { record: next, stats: await read(next) }
  }
}
