import { isAbsolute, resolve } from 'node:path'
import { errorFromJson, type ForkpointError } from '../../model/errors.ts'
import type { SnapshotId } from '../../model/ids.ts'
import type { ShortSource, SourceRequest } from '../../model/source.ts'
import type { EndedCommand, LogEntry } from '../contract/data/environment.ts'
import type { Compaction, PrunePlan } from '../contract/data/snapshot.ts'
import type {
  CachedImage,
  FailureLog,
  ForkpointEvent,
  RunningOperation,
  Spare,
  TreeNode,
  Usage,
} from '../contract/data/store.ts'
import type { CallOptions, Control, EventOptions } from '../control.ts'
import { checked, fields, type Given, options as optionsOf } from '../inputs/checked.ts'
import * as e from '../inputs/environment-inputs.ts'
import * as s from '../inputs/store-inputs.ts'
import { idempotencyKey, signal, whole, word } from '../inputs/values.ts'
import { connections } from './connections.ts'
import { Environment } from './environment.ts'
import type { Handles } from './handles.ts'
import { type RemovalOptions, removalInput, Snapshot } from './snapshot.ts'
import { Tokens } from './tokens.ts'
import { nested } from './tree.ts'

const createInput = optionsOf({ ...e.create, signal, idempotencyKey })
const attachInput = fields({ target: e.attachTarget }, { ...e.attach, signal })
const listInput = optionsOf({ ...s.environmentFilter, signal })
const filterInput = optionsOf({ ...s.snapshotFilter, signal })
const pruneInput = optionsOf({ ...s.prune, signal })
const pruneImagesInput = optionsOf({ ...s.pruneImages, signal })
const callInput = optionsOf({ signal })
const eventsInput = optionsOf({ signal, after: whole(0) })

export type CreateOptions = Omit<Given<typeof createInput>, 'from'> & {
  /**
   * where its files come from: `host` (default), `dir:PATH`, `rootfs:PATH`, `image:REF`, `dockerfile:DIR`,
   * `oci:DIR`, `archive:FILE`, `container:NAME`, or the same as an object. `snapshot:ID` makes a fork, which only accepts a name and labels
   */
  readonly from?: string | SourceRequest | ShortSource
}
export type AttachOptions = Omit<Given<typeof attachInput>, 'target'> & {
  /** the name or id of a running container, or the pid of a process, as its backend accepts it */
  readonly target: string | number
}
export type ListOptions = Given<typeof listInput>
export type SnapshotFilter = Given<typeof filterInput>
export type PruneOptions = Given<typeof pruneInput>
export type PruneImagesOptions = Given<typeof pruneImagesInput>

/** Directories on the caller's machine. */
export interface CallerPlaces {
  /** holds what is needed to undo an apply that was killed */
  readonly stateDir: string
}

/** Live environments and the tree of their snapshots, wherever `control` leads. */
export class ForkpointHandle implements AsyncDisposable {
  /** Who may use a daemon of this home over the network. */
  readonly tokens: Tokens
  readonly #handles: Handles

  constructor(control: Control, { stateDir }: CallerPlaces) {
    const handles: Handles = {
      control,
      stateDir,
      connections: connections(control),
      environment: (info) => new Environment(handles, info),
      snapshot: (info) => new Snapshot(handles, info),
    }
    this.#handles = handles
    this.tokens = new Tokens(control)
  }

  /** Makes an environment. Resolves when commands can run in it. */
  async create(options: CreateOptions = {}): Promise<Environment> {
    const { signal, idempotencyKey, from, ...wanted } = checked('create', createInput, options)
    const input = from === undefined ? wanted : { ...wanted, from: absolute(from) }
    return this.#handles.environment(
      await this.#control.call('environment.create', input, { signal, idempotencyKey }),
    )
  }

  /**
   * Adopts a running container or process as an environment. It is never harmed: removing the environment
   * leaves it as it was, and a restore starts another in its place while it continues.
   *
   * @example
   * const web = await fp.attach({ backend: 'docker', target: 'web' })
   * const [copy] = await web.fork(1)
   */
  async attach(options: AttachOptions): Promise<Environment> {
    const { signal, ...wanted } = checked('attach', attachInput, options)
    return this.#handles.environment(
      await this.#control.call('environment.attach', wanted, { signal }),
    )
  }

  /** By id, unique prefix of an id, or name. */
  async get(reference: string): Promise<Environment> {
    const input = { reference: checked('get', word, reference) }
    return this.#handles.environment(await this.#control.call('environment.get', input))
  }

  /** Oldest first. */
  async list(options: ListOptions = {}): Promise<Environment[]> {
    const { signal, ...filter } = checked('list', listInput, options)
    const infos = await this.#control.call('environment.list', filter, { signal })
    return infos.map((info) => this.#handles.environment(info))
  }

  /** By id, unique prefix of an id, or name. */
  async snapshot(reference: string): Promise<Snapshot> {
    const input = { reference: checked('snapshot', word, reference) }
    return this.#handles.snapshot(await this.#control.call('snapshot.get', input))
  }

  /**
   * Oldest first.
   *
   * @example
   * const tested = await fp.snapshots({ environment: 'web', labels: { stage: 'tested' } })
   */
  async snapshots(options: SnapshotFilter = {}): Promise<Snapshot[]> {
    const { signal, ...filter } = checked('snapshots', filterInput, options)
    const infos = await this.#control.call('snapshot.list', filter, { signal })
    return infos.map((info) => this.#handles.snapshot(info))
  }

  /** The environment or snapshot with this id or name. */
  async find(reference: string): Promise<Environment | Snapshot> {
    const input = { reference: checked('find', word, reference) }
    const found = await this.#control.call('find', input)
    return found.kind === 'snapshot'
      ? this.#handles.snapshot(found)
      : this.#handles.environment(found)
  }

  /**
   * All snapshots and environments as one forest, or only the tree that contains `around`.
   *
   * @example
   * for (const root of await fp.tree()) console.log(root.kind, root.name)
   */
  async tree(around?: string): Promise<TreeNode[]> {
    const input = around === undefined ? {} : { around: checked('tree', word, around) }
    return nested(await this.#control.call('tree', input))
  }

  /** How much disk and memory snapshots and environments use. */
  async usage(options: CallOptions = {}): Promise<Usage> {
    return await this.#control.call('usage', {}, checked('usage', callInput, options))
  }

  /**
   * Removes the snapshots that no rule keeps; with `labels`, only of those that carry them. Whatever an
   * environment or a kept snapshot builds on always stays. Without any rule, nothing else does.
   *
   * @example
   * const { remove } = await fp.prune({ keepLast: 3, keepNamed: true, dryRun: true })
   */
  async prune(options: PruneOptions = {}): Promise<PrunePlan> {
    const { signal, ...rules } = checked('prune', pruneInput, options)
    return await this.#control.call('snapshot.prune', rules, { signal })
  }

  /**
   * Removes the container images that no environment and no snapshot uses, and returns them.
   *
   * @example
   * const unused = await fp.pruneImages({ dryRun: true })
   */
  async pruneImages(options: PruneImagesOptions = {}): Promise<readonly CachedImage[]> {
    const { signal, ...wanted } = checked('pruneImages', pruneImagesInput, options)
    return await this.#control.call('images.prune', wanted, { signal })
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
    const { signal, ...wanted } = checked('removeSnapshots', removalInput, options)
    const input = { references: checked('removeSnapshots', e.references, references), ...wanted }
    return await this.#control.call('snapshot.remove', input, { signal })
  }

  /**
   * What happens from now on, or after the event with the id `after`: operations that end, and
   * snapshots that become durable.
   *
   * @example
   * for await (const event of fp.events()) if (event.type === 'durable') console.log(event.snapshot)
   */
  events(options: EventOptions = {}): AsyncIterableIterator<ForkpointEvent> {
    return this.#control.events(checked('events', eventsInput, options))
  }

  /**
   * What went wrong in the background since this was opened, such as an operation of a killed process
   * that cannot be undone. Each warning has a remedy.
   */
  async warnings(): Promise<readonly ForkpointError[]> {
    return (await this.#control.call('warnings', {})).map(errorFromJson)
  }

  /** The operations that have not ended, whichever process runs them, oldest first. */
  async operations(): Promise<readonly RunningOperation[]> {
    return await this.#control.call('operations', {})
  }

  /**
   * The operations on an environment, oldest first, with the time that each step took: also of one that was
   * removed, by its id or the name that it had.
   *
   * @example
   * const entries = await fp.log('web')
   */
  async log(reference: string, options: CallOptions = {}): Promise<readonly LogEntry[]> {
    const input = { reference: checked('log', e.reference, reference) }
    return await this.#control.call('environment.log', input, checked('log', callInput, options))
  }

  /**
   * The last commands that have ended in an environment, oldest first: also of one that was removed.
   *
   * @example
   * const failed = (await fp.commandLog('web')).filter(({ exit }) => exit.exitCode !== 0)
   */
  async commandLog(reference: string, options: CallOptions = {}): Promise<readonly EndedCommand[]> {
    const input = { reference: checked('commandLog', e.reference, reference) }
    const call = checked('commandLog', callInput, options)
    return await this.#control.call('environment.commandLog', input, call)
  }

  /** What CRIU wrote when it last could not dump or restore processes, newest first. */
  async failureLogs(): Promise<readonly FailureLog[]> {
    return await this.#control.call('failureLogs', {})
  }

  /** The spares that are ready now, whichever process made them, oldest first. */
  async spares(): Promise<readonly Spare[]> {
    return await this.#control.call('spares', {})
  }

  /** Waits until no more spares are being prepared. Useful for measurements. */
  async sparesReady(): Promise<void> {
    await this.#control.call('spares.settled', {})
  }

  /**
   * Squashes the whole chain of a snapshot into one layer; without a reference, does so for every
   * snapshot that an environment continues from. Running environments do not notice.
   *
   * @example
   * const [{ layersBefore }] = await fp.compact('ready')
   */
  async compact(reference?: string): Promise<readonly Compaction[]> {
    const input = reference === undefined ? {} : { reference: checked('compact', word, reference) }
    return await this.#control.call('snapshot.compact', input)
  }

  async close(): Promise<void> {
    await this.#handles.connections.closeAll()
    await this.#control[Symbol.asyncDispose]()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  get #control(): Control {
    return this.#handles.control
  }
}

/** Relative paths mean the caller's working directory, which the engine does not know. */
function absolute(source: SourceRequest): SourceRequest {
  if ('path' in source && !isAbsolute(source.path)) return { ...source, path: resolve(source.path) }
  if ('dir' in source && !isAbsolute(source.dir)) return { ...source, dir: resolve(source.dir) }
  return source
}
