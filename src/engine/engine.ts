import type { Backend, BackendContext } from '../backends/backend.ts'
import { backendNames, openBackend } from '../backends/registry.ts'
import type { BackendName } from '../model/environment.ts'
import { PrerequisiteError } from '../model/errors.ts'
import type { Settings } from '../model/settings.ts'
import { openHome, requireTrustedTool } from '../store/open-home.ts'
import { openStore, type Store } from '../store/open-store.ts'
import { type Background, background } from './background/background.ts'
import { type Flushes, flushes } from './background/durability.ts'
import { type Squashes, squashes } from './background/squashes.ts'
import { type Connections, connections } from './connections.ts'
import { announcing, type Events, events } from './events.ts'
import { isBusy } from './recovery/busy.ts'
import { reconcile } from './recovery/reconcile.ts'
import { settled } from './recovery/settled.ts'
import { type KeeperOptions, keepSpares, type Spares } from './spares/keeper.ts'
import { type Warnings, warnings } from './warnings.ts'

/** What every operation works with. */
export interface Engine extends AsyncDisposable {
  readonly settings: Settings
  readonly store: Store
  readonly connections: Connections
  readonly flushes: Flushes
  readonly events: Events
  readonly squashes: Squashes
  readonly background: Background
  readonly spares: Spares
  readonly warnings: Warnings
  backend(name: BackendName): Backend
  /** all there are */
  backends(): readonly Backend[]
  /** Runs `work` while no other operation, of this process or another, has the same resource. */
  exclusively<T>(resource: string, what: string, work: () => Promise<T>): Promise<T>
}

/** Opens the store and puts right what killed processes left half-done. */
export async function openEngine(given: Settings, options: KeeperOptions = {}): Promise<Engine> {
  requireRoot()
  const settings: Settings = { ...given, home: openHome(given.home) }
  requireTrustedTool('runtime', settings.runtime)
  if (settings.criu !== null) requireTrustedTool('criu', settings.criu)
  const told = events()
  const opened = openStore(settings.home)
  const store: Store = { ...opened, journal: announcing(opened.journal, told) }
  const known = new Map<BackendName, Backend>()
  const exclusively: Engine['exclusively'] = async (resource, what, work) => {
    await using _lease = await store.leases.acquire(resource, what)
    return await work()
  }
  const context: BackendContext = { settings, exclusively }
  const backend = (name: BackendName): Backend => {
    const one = known.get(name) ?? openBackend(name, context)
    known.set(name, one)
    return one
  }
  const open = connections({
    addressOf: async (id) => {
      await settled(engine, id)
      const record = store.environments.get(id)
      return record?.instance ? backend(record.backend).address(id, record.instance) : null
    },
    isPaused: (id) => store.environments.get(id)?.status === 'paused',
  })
  const engine: Engine = {
    ...{ settings, store, backend, exclusively, connections: open, events: told },
    backends: () => backendNames.map(backend),
    warnings: warnings(),
    flushes: flushes(() => engine),
    squashes: squashes(() => engine),
    background: background(() => isBusy(store)),
    spares: keepSpares(() => engine, options),
    [Symbol.asyncDispose]: async () => {
      await engine.spares.close()
      await Promise.all([engine.flushes.all(), engine.background.all()])
      await engine.squashes.close()
      await open.closeAll()
      for (const each of known.values()) each.close()
      store.close()
      told.close()
    },
  }
  try {
    await reconcile(engine)
  } catch (error) {
    await engine[Symbol.asyncDispose]()
    throw error
  }
  return engine
}

function requireRoot(): void {
  if (process.geteuid?.() === 0) return
  throw new PrerequisiteError('Forkpoint makes namespaces and mounts, for which it must be root', {
    remedy: 'run it with sudo',
  })
}
