import type { Capability } from '../model/capabilities.ts'
import type { EnvironmentRecord, Instance, Json, Limits, NetMode } from '../model/environment.ts'
import type { EnvironmentId, SnapshotId } from '../model/ids.ts'
import type { EnvironmentImage } from '../model/image.ts'
import type { SnapshotRecord } from '../model/snapshot.ts'
import type {
  CreateSpec,
  Identity,
  MaterializeSpec,
  Ref,
  SnapshotImage,
  ValidSource,
} from './backend.ts'

/** Environments can stop using the CPU and continue later. */
export interface Pausing {
  pause(ref: Ref): Promise<void>
  resume(ref: Ref): Promise<void>
}

/** One end of a connection. */
export interface Peer {
  readonly address: string
  readonly port: number
}

export interface ChangedNet {
  readonly instance: Instance
  /** the other ends of the TCP connections that were cut */
  readonly cut: readonly Peer[]
}

/** The network of an environment can be changed while it runs. */
export interface Networking {
  /**
   * gives a life the network that `net` says, and cuts its connections to the outside. Its processes
   * continue. Repeating it is harmless, also after it failed or was killed at any step.
   */
  change(ref: Ref, spec: Pick<EnvironmentRecord, 'net' | 'limits'>): Promise<ChangedNet>
}

/** Something that runs already, and that Forkpoint did not start. */
export interface AttachTarget extends ValidSource {
  /**
   * the same whatever name was given for it, and another once it has been started again: the full id of a
   * container with the time of its start, a pid with the time of its start
   */
  readonly key: string
  /** what people call it */
  readonly name: string
}

/** The environment to make of a target. */
export interface AttachSpec extends Omit<CreateSpec, 'source'>, Pick<EnvironmentRecord, 'workdir'> {
  readonly target: AttachTarget
  /** call it before an image is kept that the environment needs, so that nobody prunes it */
  readonly uses: (image: EnvironmentImage) => void
}

/**
 * A running container or process can become an environment, and is never harmed by it. The life that
 * `attach` returns is either foreign, which means the target itself, or one of ours that was made from it.
 *
 * Every other call must know a foreign life, and leave everything that we did not make as it was:
 * - `end`, `retire` and `destroy` take away what `attach` brought: the agent, everything it started, and
 *   its files. The target itself continues. It may be gone, or have been started again: that is no failure.
 * - `destroy` and `remnants` find it by the environment's id alone, also after `attach` was killed. So
 *   `attach` notes in the home where it goes before it brings anything.
 * - `capture` takes a snapshot that is ours. The target may stand still for as long as that takes, and
 *   always continues, whatever fails; it is never replaced, so the result is always `runs`.
 * - `materialize` with a foreign life in `replaces` (restore in place, promote, resume) makes a life of
 *   ours, which takes over. The target continues unnoticed, and can be attached again.
 * - `identify` changes nothing: a target keeps its hostname and its files.
 * - `alive` and `inspect` say `dead` once the target has ended or was started again.
 */
export interface Attaching {
  /** finds a target, and refuses one that cannot be adopted; changes nothing */
  find(target: string, signal?: AbortSignal): Promise<AttachTarget>
  /** brings the agent to it; after a failure the target is as before */
  attach(spec: AttachSpec, signal?: AbortSignal): Promise<Instance>
  /** the key of the target that a life is; null: it is not foreign */
  keyOf(instance: Instance): string | null
  /** what cannot be done with this life; besides, a foreign one has no `pause`, `identity` and `limits` */
  lacks(instance: Instance): readonly Capability[]
}

/** A copy that will wait, frozen, before its first instruction. It is not connected to the network. */
export interface PrepareSpec extends Omit<MaterializeSpec, 'replaces' | 'role'> {
  /** a life whose addresses it needs, because sockets of the snapshot are bound to them */
  readonly addressesOf: Instance | null
}

/** Branches can be prepared ahead of time. Without this facet, every branch is made on request. */
export interface Spares {
  /** like `materialize`, but frozen before its first instruction; leaves nothing behind if it fails */
  prepare(spec: PrepareSpec): Promise<Instance>
  /**
   * lets a prepared instance run, as `identity` if it was prepared as another; false if it is gone or
   * already running
   */
  wake(ref: Ref, identity: Identity | null): Promise<boolean>
  /** memory that an instance shares with nobody */
  privateBytes(ref: Ref): Promise<number>
}

/**
 * Connections to the outside can pass from an environment to one fork of it. Nothing may reach either of them
 * from before the snapshot until the fork has them, so that both ends of a connection stand still.
 */
export interface Connections {
  /** cuts an environment off, also one that will be made; ends by itself if nobody releases it */
  hold(id: EnvironmentId): Promise<void>
  release(id: EnvironmentId): Promise<void>
  /** the connections that an heir gets, as objects of `Lost` */
  keptBy(snapshot: SnapshotRecord): Promise<readonly string[]>
  /** from here on they belong to the heir, and are closed in the original; if it fails, nothing has changed */
  give(from: Ref, heir: Ref, snapshot: SnapshotRecord): Promise<void>
}

/** What a snapshot of processes takes up on disk, counted in blocks. */
export interface SnapshotHoldings {
  /** images that belong to this snapshot alone */
  readonly imagesBytes: number
  readonly pages: readonly HeldPages[]
}

/** A file of memory that several snapshots may share. */
export interface HeldPages {
  /** the same in every snapshot that holds it */
  readonly name: string
  readonly bytes: number
  /** how many snapshots and environments hold it */
  readonly holders: number
  /** whether this snapshot wrote it */
  readonly own: boolean
}

/** Layers that were squashed, and how to use them in an image. */
export interface Squashed {
  /** each one lives as long as the snapshot that owns it */
  readonly made: readonly {
    readonly owner: SnapshotId
    readonly name: string
    readonly bytes: number
  }[]
  /** the same files over the squashed layers; null if the image has none of their members */
  rewrite(image: SnapshotImage): SnapshotImage | null
}

/** Snapshots reach the disk some time after they are taken, and share layers and memory. */
export interface Storage {
  /** flushes a snapshot to disk and counts the bytes of its files */
  flush(snapshot: SnapshotRecord): Promise<{ filesBytes: number }>
  /** what its processes take up on disk, and how much of that is shared */
  holdings(snapshot: SnapshotRecord): Promise<SnapshotHoldings>
  /** what a snapshot that is being taken has written of its processes so far */
  writtenBytes?(snapshot: SnapshotId): number
  /** makes borrowed memory of a snapshot its own; returns its new size, or null if it borrowed none */
  ownMemory(snapshot: SnapshotRecord): Promise<number | null>
  /** removes what `ownMemory` replaced or left unfinished; nobody may be reading it */
  dropStaleMemory(snapshot: SnapshotId): Promise<void>
  /** whether a snapshot has enough layers that some should be squashed */
  squashDue(snapshot: SnapshotRecord): 'no' | 'due' | 'overdue'
  /** squashes layers where that is due; changes nothing that exists */
  squash(snapshot: SnapshotRecord, signal: AbortSignal): Promise<Squashed>
  /** squashes the whole chain of a snapshot into one layer */
  compact(snapshot: SnapshotRecord): Promise<Squashed>
  /** removes squashed layers that no record lists, which a killed process leaves behind */
  discardUnrecorded(recorded: ReadonlySet<string>): Promise<void>
  /** whether its files share blocks with those of the snapshots before it, without being layers */
  sharesBlocks(image: SnapshotImage): boolean
  /** the snapshots whose data a snapshot or an instance is incomplete without; may include itself */
  needs(record: SnapshotImage | Instance): readonly SnapshotId[]
  /**
   * Frees what these snapshots hold of removed ones and do not use; all that are ready must be among them.
   * Returns the bytes that cannot be freed while something maps them.
   */
  reclaim(snapshots: readonly SnapshotRecord[]): Promise<number>
  /** names of the snapshot layers that a snapshot or an instance is made of */
  layersOf(record: SnapshotImage | Instance): readonly string[]
}

/** A container image that environments share. */
export interface CachedImage {
  /** digest of its configuration */
  readonly id: string
  /** the sources that it came from */
  readonly names: readonly string[]
  /** bytes of its own layers in the home */
  readonly bytes: number
  /** bytes of layers that a tool outside keeps for us */
  readonly heldBytes: number
}

/** What keeps images from being removed. */
export interface ImageUse {
  /** of images that environments and snapshots were made from */
  readonly ids: ReadonlySet<string>
  /** whose layers must stay */
  readonly records: readonly (SnapshotImage | Instance)[]
}

/** Container images are kept for the next environment. */
export interface Images {
  list(): Promise<readonly CachedImage[]>
  /** calls `use` when nobody else can add an image, and returns those that nothing uses */
  prune(use: () => ImageUse, how: 'remove' | 'only-list'): Promise<readonly CachedImage[]>
}

/** What is still in the store. */
export type Left = 'environments' | 'snapshots' | 'nothing'

/** Environments share parts of this machine: a volume, network rules, cgroups. */
export interface Machine {
  /** makes stored data reachable, for example after a reboot */
  ready(): Promise<void>
  /** protects the host from environments of an earlier version as this version does; cheap if done */
  harden(): Promise<void>
  /** whether it has weaker isolation from an earlier version, which only a new life can replace */
  isOutdated(ref: Ref): boolean
  /** frees what nobody needs; calls `left` when nobody else can begin to need it */
  freeUnused(left: () => Left): Promise<void>
}

/** What a caller of `create` may add for a backend over a container engine. */
export interface GivenExtras {
  /** arguments of `docker run` */
  readonly extraArgs?: readonly string[] | undefined
  /** a directory of the host for checkpoints */
  readonly exportDir?: string | undefined
}

/** Extras that were checked: a part belongs to every environment, and the rest only to the backend. */
export interface AcceptedExtras
  extends Partial<Pick<EnvironmentRecord, 'env' | 'labels' | 'workdir' | 'hostname'>> {
  readonly limits?: Limits
  readonly net?: NetMode
  readonly kept: Json
}

/** `create` accepts more than its usual options. */
export interface Extras {
  /** refuses what is unknown or cannot be done, before anything is made */
  accept(given: GivenExtras): Promise<AcceptedExtras>
}

/** Another backend of the same engine keeps processes as well. */
export interface ProcessesVariant {
  readonly backend: string
  /** whether environments are made with it even if the caller does not ask */
  readonly isDefault: boolean
}
