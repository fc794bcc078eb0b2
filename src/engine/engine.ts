import type { Backend, BackendContext } from '../backends/backend.ts'
import { makerOf, productRegistry, type Registry } from '../backends/registry.ts'
import type { BackendName } from '../model/environment.ts'
import { type Log, silentLog } from '../model/log.ts'
import type { Settings } from '../model/settings.ts'
import { openHome } from '../store/open-home.ts'
import { openStore, type Store } from '../store/open-store.ts'
import { type Admission, admission } from './admission/admission.ts'
import { type Background, background } from './background/background.ts'
import { type Flushes, flushes } from './background/durability.ts'
import { type Squashes, squashes } from './background/squashes.ts'
import { announcing, type Events, events } from './events.ts'
import { type Activity, activity } from './policies/activity.ts'
import { keeper } from './policies/keeper.ts'
import { idle, isBusy } from './recovery/busy.ts'
import { reconcile } from './recovery/reconcile.ts'
import { type SpareCounts, spareCounts } from './spares/counts.ts'
import { type SpareOptions, type SparePool, sparePool } from './spares/pool.ts'
import { type Transports, transports } from './transports.ts'
import { type Warnings, warnings } from './warnings.ts'

/** What every operation works with. */
export interface Engine extends AsyncDisposable, Backends {
  readonly settings: Settings
  readonly log: Log
  readonly store: Store
  readonly flushes: Flushes
  readonly events: Events
  readonly squashes: Squashes
  readonly background: Background
  readonly spares: SparePool
  readonly spareCounts: SpareCounts
  readonly warnings: Warnings
  readonly admission: Admission
  /** when callers use environments */
  readonly activity: Activity
  /** open connections to agents */
  readonly transports: Transports
  /** Runs `work` while no other operation, in this process or another, holds the same resource. */
  exclusively<T>(resource: string, what: string, work: () => Promise<T>): Promise<T>
}

interface Backends {
  /** for environments whose creator names none */
  readonly defaultBackend: BackendName
  backend(name: BackendName): Backend
  backends(): readonly Backend[]
}

export interface EngineOptions extends SpareOptions {
  /** default: the product's */
  readonly backends?: Registry
  /** default: silent */
  readonly log?: Log
  /** `kept`: does what policies of environments say, in a process that keeps running; default: `left` to others */
  readonly policies?: 'kept' | 'left'
}

/** Opens the store and recovers what killed processes left half-done. */
export async function openEngine(given: Settings, options: EngineOptions = {}): Promise<Engine> {
  const settings: Settings = { ...given, home: openHome(given.home) }
  const engine = assemble(settings, options)
  try {
    await reconcile(engine)
  } catch (error) {
    await engine[Symbol.asyncDispose]()
    throw error
  }
  return engine
}

function assemble(settings: Settings, options: EngineOptions): Engine {
  const { backends: registry = productRegistry, log = silentLog } = options
  const opened = openStore(settings.home)
  const bus = events(opened.events)
  const store: Store = { ...opened, journal: announcing(opened.journal, bus, log) }
  const exclusively: Engine['exclusively'] = async (resource, what, work) => {
    await using _lease = await store.leases.acquire(resource, what)
    return await work()
  }
  const known = new Map<BackendName, Backend>()
  const policies = options.policies === 'kept' ? keeper(() => engine) : null
  const engine: Engine = {
    ...lazyBackends(registry, { settings, log, exclusively }, known),
    settings,
    log,
    store,
    exclusively,
    events: bus,
    warnings: warnings(),
    transports: transports(),
    activity: activity(() => engine),
    admission: admission(() => engine, settings.admission.branchOperations),
    flushes: flushes(() => engine),
    squashes: squashes(() => engine),
    background: background(() => isBusy(store), log),
    spares: sparePool(() => engine, options),
    spareCounts: spareCounts(),
    [Symbol.asyncDispose]: async () => {
      await policies?.close()
      await close(engine, known.values())
    },
  }
  return engine
}

/** Opens each backend when it is first used. */
function lazyBackends(
  registry: Registry,
  context: BackendContext,
  known: Map<BackendName, Backend>,
): Backends {
  const backend = (name: BackendName): Backend => {
    const opened = known.get(name) ?? makerOf(registry, name).open(context)
    known.set(name, opened)
    return opened
  }
  return {
    backend,
    backends: () => Object.keys(registry.makers).map(backend),
    defaultBackend: registry.default,
  }
}

async function close(engine: Engine, backends: Iterable<Backend>): Promise<void> {
  await engine.spares.close()
  await idle(engine.store)
  await Promise.all([engine.flushes.all(), engine.background.all()])
  await engine.squashes.close()
  engine.activity.close()
  engine.transports.cutAll()
  for (const backend of backends) await backend[Symbol.asyncDispose]()
  engine.events.close()
  engine.store.close()
}
