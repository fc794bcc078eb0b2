import type { snapshotOperations } from '../../api/contract/snapshots.ts'
import { compact, headsOf } from '../background/compact.ts'
import { fork } from '../operations/fork/fork.ts'
import { prune, removeSnapshots } from '../operations/prune.ts'
import {
  labelSnapshot,
  listSnapshots,
  renameSnapshot,
  whenReady,
} from '../operations/snapshot/snapshot-record.ts'
import { prove } from '../proofs/prove.ts'
import { forked } from './forked.ts'
import type { Handlers } from './handlers.ts'
import { snapshotInfo } from './infos.ts'

export const snapshotHandlers: Handlers<keyof typeof snapshotOperations> = {
  'snapshot.get': async ({ store }, { reference }) =>
    snapshotInfo(store.snapshots.resolve(reference)),
  'snapshot.list': async (engine, filter) => listSnapshots(engine, filter).map(snapshotInfo),
  'snapshot.fork': async (engine, { id, ...input }) =>
    forked(engine, await fork(engine, engine.store.snapshots.resolve(id), input)),
  'snapshot.label': async (engine, { id, labels }) =>
    snapshotInfo(labelSnapshot(engine, id, labels)),
  'snapshot.annotate': async ({ store }, { id, metadata }) =>
    snapshotInfo(store.snapshots.update(id, { metadata })),
  'snapshot.rename': async (engine, { id, name }) => snapshotInfo(renameSnapshot(engine, id, name)),
  'snapshot.ready': async (engine, { id }) => snapshotInfo(await whenReady(engine, id)),
  'snapshot.durable': async (engine, { id }) => {
    const record = await whenReady(engine, id)
    if (!record.durable) await engine.flushes.start(record)
    return snapshotInfo(engine.store.snapshots.resolve(id))
  },
  'snapshot.prove': async (engine, { id }) => {
    await whenReady(engine, id)
    return snapshotInfo(await prove(engine, id))
  },
  'snapshot.compact': async (engine, { reference }) => {
    const ids =
      reference === undefined ? headsOf(engine) : [engine.store.snapshots.resolve(reference).id]
    const done = []
    for (const id of ids) done.push(await compact(engine, id))
    return done
  },
  'snapshot.remove': async (engine, { references, ...input }) => {
    const ids = references.map((reference) => engine.store.snapshots.resolve(reference).id)
    return await removeSnapshots(engine, ids, input)
  },
  'snapshot.prune': async (engine, rules) => await prune(engine, rules),
}
