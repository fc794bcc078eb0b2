import type { storeOperations } from '../../api/contract/store.ts'
import { toJson } from '../../model/errors.ts'
import { measureUsage } from '../background/measure-usage.ts'
import { flatTree } from '../history/flat-tree.ts'
import { runningOperations } from '../history/running-operations.ts'
import { buildTree, treeAround } from '../history/tree.ts'
import { pruneImages } from '../operations/prune-images.ts'
import { markDead } from '../recovery/liveness.ts'
import { findReferent } from '../reference.ts'
import type { Handlers } from './handlers.ts'
import { environmentInfo, snapshotInfo } from './infos.ts'

export const storeHandlers: Handlers<keyof typeof storeOperations> = {
  find: async (engine, { reference }) => {
    await markDead(engine)
    const found = findReferent(engine.store, reference)
    if (found.kind === 'snapshot') return snapshotInfo(found.record)
    return environmentInfo(engine, found.record)
  },
  tree: async (engine, { around }) => {
    await markDead(engine)
    const { snapshots, environments } = engine.store
    const roots = buildTree(snapshots.list(), environments.list())
    if (around === undefined) return flatTree(roots)
    return flatTree(treeAround(roots, findReferent(engine.store, around).record.id))
  },
  usage: async (engine) => await measureUsage(engine),
  'images.prune': async (engine, options) => await pruneImages(engine, options),
  warnings: async (engine) => engine.warnings.list().map(toJson),
  operations: async (engine) => await runningOperations(engine),
  failureLogs: async (engine) =>
    engine
      .backends()
      .flatMap(({ failureLogs }) => failureLogs?.() ?? [])
      .sort((a, b) => b.at - a.at),
  spares: async ({ store }) => {
    const ready = store.spares.list().filter(({ state }) => state === 'ready')
    return ready.map(({ kind, snapshot, environmentId }) => ({
      kind,
      snapshot,
      environment: environmentId,
    }))
  },
  'spares.settled': async (engine) => {
    await engine.spares.settled()
    return null
  },
}
