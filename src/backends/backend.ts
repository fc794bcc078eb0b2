import type { Readable } from 'node:stream'
import type { SocketIdentity } from '../agent/wire/socket.ts'
import type { Capabilities } from '../model/capabilities.ts'
import type {
  BackendName,
  EnvironmentRecord,
  Instance,
  MemoryMode,
  Source,
} from '../model/environment.ts'
import type { FileChange } from '../model/file-change.ts'
import type { EnvironmentId, SnapshotId } from '../model/ids.ts'
import type { Settings } from '../model/settings.ts'
import type { Captured, SnapshotMemory, SnapshotRecord } from '../model/snapshot.ts'

/** What an environment knows about itself. */
export interface Identity {
  readonly id: EnvironmentId
  readonly name: string | null
  readonly hostname: string
  readonly machineId: string
}

/** What a backend is given to make an environment from. */
export interface CreateSpec extends Pick<EnvironmentRecord, 'id' | 'source' | 'limits' | 'net'> {
  readonly identity: Identity
}

/** How the host reaches the agent of an instance. */
export interface AgentAddress {
  /** host path of the agent's socket */
  readonly path: string
  /** what the agent bound before other code ran inside; anything else there is refused */
  readonly identity: SocketIdentity
}

export type InstanceState = 'running' | 'paused' | 'dead'

/** What the processes of an environment have in memory. */
export interface MemoryAccount {
  /** written by them, or copied for them */
  readonly privateBytes: number
  /** mapped from their snapshots' pages, which other environments may map, too */
  readonly sharedBytes: number
  readonly totalBytes: number
}

export interface InstanceStats {
  /** what counts towards the limit: with caches, and without what was in memory before */
  readonly memoryBytes: number
  readonly memory: MemoryAccount
  readonly memoryLimitBytes: number | null
  /** CPU time used since it was made */
  readonly cpuMs: number
  readonly processes: number
  readonly processLimit: number | null
  /** bytes of files changed since it was made */
  readonly diskBytes: number
}

/** One line of `doctor`. */
export interface Check {
  readonly name: string
  readonly status: 'ok' | 'warn' | 'fail'
  /** what was probed and found */
  readonly found: string
  readonly remedy?: string
}

/** What is needed of the rest of the program, so that a backend knows no other room. */
export interface BackendContext {
  readonly settings: Settings
  /** runs `work` while no other Forkpoint process does the same on this store */
  readonly exclusively: <T>(resource: string, what: string, work: () => Promise<T>) => Promise<T>
}

/** What a backend needs to bring a snapshot to life; opaque to everyone else. */
export type SnapshotImage = SnapshotRecord['image']

export interface CaptureOptions {
  readonly mode: 'full' | 'filesystem'
  readonly memory: MemoryMode
  /** what the environment came from, as it is by now */
  readonly head: SnapshotRecord | null
}

export interface CaptureResult {
  readonly image: SnapshotImage
  readonly captured: readonly Captured[]
  readonly imagesBytes: number
  /** null if no processes were taken */
  readonly memory: SnapshotMemory | null
  /** when the environment stopped, as `performance.now()` tells it */
  readonly frozenAt: number
  readonly phases: readonly { readonly name: string; readonly ms: number }[]
}

/** What a snapshot has of processes on disk, counted in blocks. */
export interface SnapshotHoldings {
  /** images that are its own alone */
  readonly imagesBytes: number
  readonly pages: readonly HeldPages[]
}

/** A file of memory that snapshots may have in common. */
export interface HeldPages {
  /** the same in every snapshot that has it */
  readonly name: string
  readonly bytes: number
  /** how many snapshots and environments have it */
  readonly holders: number
  /** whether it was written with this one */
  readonly own: boolean
}

/** Layers that were made of several, and how an image reads with them. */
export interface Squashed {
  /** each lives as long as the snapshot that it belongs to */
  readonly made: readonly {
    readonly owner: SnapshotId
    readonly name: string
    readonly bytes: number
  }[]
  /** the same files with the merged layers in place; null if the image has none of them */
  rewrite(image: SnapshotImage): SnapshotImage | null
}

/** What an environment made from a snapshot is to be. */
export interface MaterializeSpec extends Pick<EnvironmentRecord, 'id' | 'limits' | 'net'> {
  readonly snapshot: SnapshotRecord
  readonly identity: Identity
  /** the instance of the same environment that this one takes over from */
  readonly replaces: Instance | null
  /** a successor goes on with the connections to outside; in a copy they are closed */
  readonly role: 'successor' | 'copy'
}

/** A copy that is to wait, frozen, before its first instruction. */
export type PrepareSpec = Omit<MaterializeSpec, 'replaces' | 'role'>

/** The files of an environment, a snapshot or a base; what else it is, only its backend knows. */
export interface View {
  readonly kind: string
}

export interface ChangesOptions {
  /** only these paths inside and what is below them */
  readonly paths?: readonly string[]
  /** what was below a deleted directory is counted in it (default), or listed as well */
  readonly deletions?: 'counted' | 'listed'
  /** `found` (default): a deletion and an addition of the same file are one rename */
  readonly renames?: 'found' | 'ignored'
}

export interface CopySpec {
  /** path inside; a directory comes with all below it */
  readonly from: string
  /** path below the directory copied into; empty: that directory, which takes `from`'s entries */
  readonly to: string
}

export interface CopyOptions {
  /** who everything belongs to; `keep`: the ids that it has inside */
  readonly owner: { readonly uid: number; readonly gid: number } | 'keep'
}

export interface CopyReport {
  readonly entries: number
  readonly bytes: number
  /** paths inside of devices, sockets and pipes, which mean nothing outside: the first of them */
  readonly leftOut: readonly string[]
}

/** Reading files from outside. A running environment may change meanwhile; pause it to be exact. */
export interface BackendFiles {
  /** an environment as it is now */
  view(id: EnvironmentId, instance: Instance): View
  snapshotView(snapshot: SnapshotRecord): View
  /** what an environment or snapshot started from, before anything was written inside */
  baseView(view: View): View
  /** what became of the files of `a` in `b`, sorted by path */
  changes(a: View, b: View, options?: ChangesOptions): Promise<FileChange[]>
  /** a change between the two as a patch; empty for what has no text */
  patch(change: FileChange, a: View, b: View): Promise<string>
  /** a regular file's content; symlinks are not followed */
  openFile(view: View, path: string): Promise<Readable>
  /** SHA-256 in hex by path, null for what is no regular file */
  digests(view: View, paths: readonly string[]): Promise<Map<string, string | null>>
  /** copies into an existing directory of the host, without set-id bits */
  copyOut(
    view: View,
    dir: string,
    specs: readonly CopySpec[],
    options: CopyOptions,
  ): Promise<CopyReport>
}

/** A mechanism that environments are made with. */
export interface Backend {
  readonly name: BackendName
  readonly capabilities: Capabilities
  readonly files: BackendFiles
  /** makes what is stored reachable, as after a reboot */
  ready(): Promise<void>
  /** refuses a source it cannot serve, before anything is made; says where shells start in it */
  validate(source: Source): Promise<{ workdir: string }>
  create(spec: CreateSpec): Promise<Instance>
  /**
   * Takes files and, in full mode, processes. In full mode the environment is frozen afterwards and
   * waits for a successor, or for `uncapture`.
   */
  capture(
    id: EnvironmentId,
    instance: Instance,
    snapshot: SnapshotId,
    options: CaptureOptions,
  ): Promise<CaptureResult>
  /** undoes a capture, whatever step it ended at */
  uncapture(id: EnvironmentId, instance: Instance, snapshot: SnapshotId): Promise<void>
  materialize(spec: MaterializeSpec): Promise<Instance>
  /** the same, but frozen before its first instruction; it leaves nothing behind if it fails */
  prepare(spec: PrepareSpec): Promise<Instance>
  /**
   * lets a prepared instance run, as `identity` if it was prepared as another; false if there is
   * none any more, or it has run already
   */
  wake(id: EnvironmentId, instance: Instance, identity: Identity | null): Promise<boolean>
  /** memory that an instance shares with nobody */
  privateBytes(id: EnvironmentId, instance: Instance): Promise<number>
  /** ends one instance that another has taken over from */
  end(id: EnvironmentId, instance: Instance): Promise<void>
  /** ends every instance of this environment but `keep`, which has the network link again */
  retire(id: EnvironmentId, keep: Instance | null): Promise<void>
  /** removes what a snapshot holds */
  discard(snapshot: SnapshotId): Promise<void>
  /** flushes a snapshot to disk; says how large its files are */
  flush(snapshot: SnapshotRecord): Promise<{ filesBytes: number }>
  /** makes memory that a snapshot has from others its own; the bytes it has then, null if it had none */
  gatherMemory(snapshot: SnapshotRecord): Promise<number | null>
  /** removes what gathering replaced, or left unfinished; nobody may be reading it */
  dropStaleMemory(snapshot: SnapshotId): Promise<void>
  /** what it has of processes on disk, and with whom */
  holdings(snapshot: SnapshotRecord): Promise<SnapshotHoldings>
  /** whether a snapshot has so many layers that some should become one */
  squashDue(snapshot: SnapshotRecord): 'no' | 'due' | 'overdue'
  /** makes one layer of several where that is due; nothing that is there changes */
  squash(snapshot: SnapshotRecord, signal: AbortSignal): Promise<Squashed>
  /** makes one of all that a snapshot and those it came from hold */
  compact(snapshot: SnapshotRecord): Promise<Squashed>
  /** removes merged layers that are in no record, as a killed process leaves them */
  discardUnrecorded(recorded: ReadonlySet<string>): Promise<void>
  /** names of the layers of snapshots that a snapshot or an instance is made of */
  layersOf(record: SnapshotImage | Instance): readonly string[]
  /** where the agent of this instance listens */
  address(id: EnvironmentId, instance: Instance): AgentAddress
  /** replaces what the environment reads of itself in /run/forkpoint/identity.json */
  identify(id: EnvironmentId, instance: Instance, identity: Identity): Promise<void>
  isAlive(instance: Instance): boolean
  inspect(id: EnvironmentId, instance: Instance): Promise<InstanceState>
  pause(id: EnvironmentId, instance: Instance): Promise<void>
  resume(id: EnvironmentId, instance: Instance): Promise<void>
  stats(id: EnvironmentId, instance: Instance): Promise<InstanceStats>
  /** removes all that is or may be there under this id, also what a killed `create` left */
  destroy(id: EnvironmentId): Promise<void>
  /** what is there, for finding what no record knows */
  remnants(): Promise<readonly Remnant[]>
  /** puts the walls of this version around what an earlier one started; cheap if they stand */
  harden(): Promise<void>
  /** whether it is behind walls of an earlier version, which only a new life takes down */
  isOutdated(instance: Instance): boolean
  /** gives back what is held for all environments together, once there is none of them */
  release(left: 'snapshots' | 'nothing'): Promise<void>
  check(): Promise<readonly Check[]>
  /** ends what it keeps ready; environments go on */
  close(): void
}

/** Something of an environment that was found on the machine. */
export interface Remnant {
  readonly id: EnvironmentId
  /** whether it belongs to this instance of the environment */
  isPartOf(instance: Instance): boolean
  /** ends that instance, and no other */
  end(): Promise<void>
}
