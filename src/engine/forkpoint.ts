import { hostFacts } from '../config/host-facts.ts'
import type { Flags } from '../config/layers.ts'
import { type LoadedSettings, loadSettings } from '../config/load-settings.ts'
import type { EnvironmentStatus } from '../model/environment.ts'
import type { ForkpointError } from '../model/errors.ts'
import type { EnvironmentId, SnapshotId } from '../model/ids.ts'
import type { SnapshotRecord } from '../model/snapshot.ts'
import { type Compaction, compact, headsOf } from './background/compact.ts'
import { measureUsage } from './background/measure-usage.ts'
import { type Doctor, doctor } from './doctor.ts'
import { type Engine, openEngine } from './engine.ts'
import { Environment } from './environment.ts'
import type { ForkpointEvent } from './events.ts'
import type { RemovalOptions } from './history/removal.ts'
import type { PrunePlan } from './history/retention.ts'
import { buildTree, type TreeNode, treeAround } from './history/tree.ts'
import type { Usage } from './history/usage.ts'
import { checked } from './inputs/checked.ts'
import { listenInput, listInput, openInput, referencesInput } from './inputs/store-inputs.ts'
import { word } from './inputs/values.ts'
import { type CreateOptions, create } from './operations/create.ts'
import { type PruneOptions, prune, removeSnapshots } from './operations/prune.ts'
import { listSnapshots, type SnapshotFilter } from './operations/snapshot-record.ts'
import { currentRecord, markDead } from './recovery/liveness.ts'
import { findReferent } from './reference.ts'
import { Snapshot } from './snapshot-handle.ts'

export interface OpenOptions {
  /** settings that come before variables and files, as `forkpoint config` names them */
  readonly settings?: Flags
  /** a configuration file to read before the user's and the system's */
  readonly configPath?: string
  /**
   * `prepared` (default): likely next branches are made ready in the background, as `spares.count`
   * says; `borrowed`: only those of other processes are used, as a process does that ends soon
   */
  readonly spares?: 'prepared' | 'borrowed'
}

/** A branch that is ready before anybody asked for it. */
export interface Spare {
  readonly kind: 'restore' | 'fork'
  readonly snapshot: SnapshotId
  /** the environment it would continue; of a fork, the id that the new one would have */
  readonly environment: EnvironmentId
}

export interface ListOptions {
  readonly status?: EnvironmentStatus | readonly EnvironmentStatus[]
  readonly labels?: Readonly<Record<string, string>>
}

/**
 * Live environments on this machine, and the tree of their snapshots.
 *
 * @example
 * await using fp = await Forkpoint.open()
 * const env = await fp.create({ from: 'host', name: 'try' })
 * const ready = await env.snapshot({ name: 'ready' })
 * const tries = await ready.fork(3)
 * await env.restore(ready)
 */
export class Forkpoint implements AsyncDisposable {
  readonly #engine: Engine

  private constructor(engine: Engine) {
    this.#engine = engine
  }

  /** Opens this machine's store, cleaning up after processes that were killed. */
  static async open(options: OpenOptions = {}): Promise<Forkpoint> {
    const { spares = 'prepared', ...rest } = checked('open', openInput, options)
    const { settings } = Forkpoint.settings(rest)
    return new Forkpoint(await openEngine(settings, { spares }))
  }

  /** The effective settings, and where each comes from. */
  static settings(options: OpenOptions = {}): LoadedSettings {
    const { settings: flags = {}, configPath } = checked('open', openInput, options)
    return loadSettings({ flags, env: process.env, facts: hostFacts(), configPath })
  }

  /** Probes what Forkpoint needs of this machine, for real; needs no open store. */
  static async doctor(options: OpenOptions = {}): Promise<Doctor> {
    return await doctor(Forkpoint.settings(options).settings)
  }

  /** Makes an environment; resolves when commands can run in it. */
  async create(options: CreateOptions = {}): Promise<Environment> {
    return new Environment(this.#engine, await create(this.#engine, options))
  }

  /** By id, unique beginning of an id, or name. */
  async get(reference: string): Promise<Environment> {
    return new Environment(
      this.#engine,
      currentRecord(this.#engine, checked('get', word, reference)),
    )
  }

  /** Oldest first. */
  async list(options: ListOptions = {}): Promise<Environment[]> {
    const filter = checked('list', listInput, options)
    markDead(this.#engine)
    const records = this.#engine.store.environments.list(filter)
    return records.map((record) => new Environment(this.#engine, record))
  }

  /** By id, unique beginning of an id, or name. */
  async snapshot(reference: string): Promise<Snapshot> {
    return this.#snapshot(
      this.#engine.store.snapshots.resolve(checked('snapshot', word, reference)),
    )
  }

  /**
   * Oldest first.
   *
   * @example
   * const tested = await fp.snapshots({ environment: 'web', labels: { stage: 'tested' } })
   */
  async snapshots(filter: SnapshotFilter = {}): Promise<Snapshot[]> {
    const records = listSnapshots(this.#engine, filter)
    return records.map((record) => this.#snapshot(record))
  }

  /** Whatever has this id or name: an environment or a snapshot. */
  async find(reference: string): Promise<Environment | Snapshot> {
    markDead(this.#engine)
    const found = findReferent(this.#engine.store, checked('find', word, reference))
    if (found.kind === 'snapshot') return this.#snapshot(found.record)
    return new Environment(this.#engine, found.record)
  }

  /**
   * All snapshots and environments as one forest, or the tree that one of them is part of.
   *
   * @example
   * for (const root of await fp.tree()) console.log(root.kind, root.name)
   */
  async tree(around?: string): Promise<TreeNode[]> {
    markDead(this.#engine)
    const { snapshots, environments } = this.#engine.store
    const roots = buildTree(snapshots.list(), environments.list())
    if (around === undefined) return roots
    return treeAround(
      roots,
      findReferent(this.#engine.store, checked('tree', word, around)).record.id,
    )
  }

  /** What snapshots and environments take of disk and memory. */
  usage(): Promise<Usage> {
    return measureUsage(this.#engine)
  }

  /**
   * Removes the snapshots that no rule keeps. What an environment or a kept snapshot builds on always
   * stays; without any rule, only that does.
   *
   * @example
   * const { remove } = await fp.prune({ keepLast: 3, keepNamed: true, dryRun: true })
   */
  prune(options: PruneOptions = {}): Promise<PrunePlan> {
    return prune(this.#engine, options)
  }

  /**
   * Removes these snapshots together, or none of them if something else needs one.
   *
   * @example
   * await fp.removeSnapshots(['draft-1', 'draft-2'], { cascade: true })
   */
  async removeSnapshots(
    references: readonly string[],
    options: RemovalOptions = {},
  ): Promise<readonly SnapshotId[]> {
    const { snapshots } = this.#engine.store
    const ids = checked('removeSnapshots', referencesInput, references).map(
      (reference) => snapshots.resolve(reference).id,
    )
    return await removeSnapshots(this.#engine, ids, options)
  }

  /**
   * What this process does from now on: operations as they end, and snapshots as they become durable.
   *
   * @example
   * for await (const event of fp.events()) if (event.type === 'durable') console.log(event.snapshot)
   */
  events(options: { readonly signal?: AbortSignal } = {}): AsyncIterableIterator<ForkpointEvent> {
    return this.#engine.events.listen(checked('events', listenInput, options).signal)
  }

  /**
   * What went wrong beside what was asked for, since this was opened: an operation of a killed process
   * that cannot be undone, say. Each says what to do about it.
   */
  warnings(): readonly ForkpointError[] {
    return this.#engine.warnings.list()
  }

  /** The branches that are ready now, whichever process made them, oldest first. */
  async spares(): Promise<Spare[]> {
    const ready = this.#engine.store.spares.list().filter(({ state }) => state === 'ready')
    return ready.map(({ kind, snapshot, environmentId: environment }) => ({
      ...{ kind, snapshot, environment },
    }))
  }

  /** Waits until this process prepares nothing any more, for measurements. */
  sparesReady(): Promise<void> {
    return this.#engine.spares.settled()
  }

  /**
   * Makes one layer of all that a snapshot is made of; without one, does so for every snapshot that an
   * environment goes on from. Nothing that runs notices.
   *
   * @example
   * const [{ layersBefore }] = await fp.compact('ready')
   */
  async compact(reference?: string): Promise<Compaction[]> {
    const engine = this.#engine
    const ids =
      reference === undefined
        ? headsOf(engine)
        : [engine.store.snapshots.resolve(checked('compact', word, reference)).id]
    const done: Compaction[] = []
    for (const id of ids) done.push(await compact(engine, id))
    return done
  }

  async close(): Promise<void> {
    await this.#engine[Symbol.asyncDispose]()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  #snapshot(record: SnapshotRecord): Snapshot {
    return new Snapshot(this.#engine, record, (made) => new Environment(this.#engine, made))
  }
}
