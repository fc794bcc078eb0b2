import type { Duplex, Readable } from 'node:stream'
import type { Capability } from '../model/capabilities.ts'
import type {
  BackendName,
  EnvironmentRecord,
  Instance,
  Json,
  MemoryMode,
  Source,
} from '../model/environment.ts'
import type { FileChange, InsideEntry } from '../model/files/file-change.ts'
import type { EnvironmentId, SnapshotId } from '../model/ids.ts'
import type { ImageFacts } from '../model/image.ts'
import type { Log } from '../model/log.ts'
import type { Settings } from '../model/settings.ts'
import type { Captured, Lost, SnapshotMemory, SnapshotRecord } from '../model/snapshot.ts'
import type {
  Attaching,
  Connections,
  Extras,
  Images,
  Machine,
  Networking,
  Pausing,
  ProcessesVariant,
  Spares,
  Storage,
} from './facets.ts'

/** One life of an environment. */
export interface Ref {
  readonly id: EnvironmentId
  readonly instance: Instance
}

/** What an environment knows about itself. */
export interface Identity {
  readonly id: EnvironmentId
  readonly name: string | null
  readonly hostname: string
  readonly machineId: string
}

/** What a backend makes an environment from. */
export interface CreateSpec
  extends Pick<EnvironmentRecord, 'id' | 'source' | 'limits' | 'net' | 'image'> {
  readonly identity: Identity
  /** what its `extras` facet made of the caller's; absent: nothing was given */
  readonly extras?: Json
}

/** What a source says about environments that are made from it. */
export interface ValidSource {
  /** where shells start */
  readonly workdir: string
  /** absent unless it is a container image */
  readonly image?: ImageFacts
}

export type InstanceState = 'running' | 'paused' | 'dead'

/** The memory that the processes of an environment use. */
export interface MemoryAccount {
  /** written by the processes, or copied for them */
  readonly privateBytes: number
  /** mapped from the pages of snapshots, which other environments may also map */
  readonly sharedBytes: number
  readonly totalBytes: number
}

export interface InstanceStats {
  /** what counts towards the limit: includes caches, but not what was in memory already */
  readonly memoryBytes: number
  readonly memory: MemoryAccount
  readonly memoryLimitBytes: number | null
  /** CPU time used since this life began */
  readonly cpuMs: number
  readonly processes: number
  readonly processLimit: number | null
  /** on which its processes run; null: the backend cannot tell */
  readonly terminals: number | null
  /** bytes of the files written since its last snapshot */
  readonly diskBytes: number
  readonly diskUsedBytes: number | null
  readonly diskLimitBytes: number | null
}

/** One line of `doctor`. */
export interface Check {
  readonly name: string
  readonly status: 'ok' | 'warn' | 'fail'
  /** what was probed and found */
  readonly found: string
  readonly remedy?: string
}

/** What a backend gets from the rest of the program, so that it need not import other rooms. */
export interface BackendContext {
  readonly settings: Settings
  readonly log: Log
  /** runs `work` while no other Forkpoint process holds the same resource of this store */
  readonly exclusively: <T>(resource: string, what: string, work: () => Promise<T>) => Promise<T>
}

/** What a backend needs to make a life from a snapshot; opaque to everyone else. */
export type SnapshotImage = SnapshotRecord['image']

export interface CaptureOptions {
  readonly mode: 'full' | 'filesystem'
  readonly memory: MemoryMode
  /** what the environment does once everything is captured, if it need not be replaced */
  readonly after: 'continue' | 'stay-frozen'
  /** the snapshot that the environment came from, as the store has it now */
  readonly head: SnapshotRecord | null
  /** whether memory is copied while the environment runs; undefined: the backend decides */
  readonly live?: boolean | undefined
  /** gives up while nothing stands still; what has begun then ends as usual */
  readonly signal?: AbortSignal | undefined
}

export interface CaptureResult {
  readonly image: SnapshotImage
  readonly captured: readonly Captured[]
  /** whether the environment runs, is frozen as the caller asked, or waits for a successor to take over */
  readonly original: 'runs' | 'stays-frozen' | 'awaits-successor'
  /** true if it is on disk already and needs no flush */
  readonly durable: boolean
  /** bytes of its files; null if `flush` will count them */
  readonly filesBytes: number | null
  readonly imagesBytes: number
  /** null if no processes were captured */
  readonly memory: SnapshotMemory | null
  /** when the environment stopped and continued, in the time of `performance.now()`; null: it has not */
  readonly frozenAt: number
  readonly thawedAt: number | null
  /** how long it stood still before that, if it had to stop twice */
  readonly earlierStopMs?: number
  readonly phases: readonly { readonly name: string; readonly ms: number }[]
  /** what copies will not have; absent: they have everything */
  readonly lost?: readonly Lost[]
}

/** The environment to make from a snapshot. */
export interface MaterializeSpec extends Pick<EnvironmentRecord, 'id' | 'limits' | 'net'> {
  readonly snapshot: SnapshotRecord
  readonly identity: Identity
  /** the life of the same environment that this one takes over from */
  readonly replaces: Instance | null
  /**
   * a successor keeps its connections to the outside, and a copy has them closed; an heir is a copy that will be
   * given them, see `Connections`
   */
  readonly role: 'successor' | 'copy' | 'heir'
}

/** The files of an environment, a snapshot or a base. Only its backend knows the rest. */
export interface View {
  readonly kind: string
}

export interface ChangesOptions {
  /** only these paths inside and everything below them */
  readonly paths?: readonly string[]
  /** whether files below a deleted directory are only counted (default), or also listed */
  readonly deletions?: 'counted' | 'listed'
  /** `found` (default): a deletion and an addition of the same file become one rename */
  readonly renames?: 'found' | 'ignored'
}

export interface CopySpec {
  /** path inside; a directory includes everything below it */
  readonly from: string
  /** its name in the archive; if empty, the entries of `from` are at the top */
  readonly to: string
}

/** Reads files from outside. A running environment may change in the meantime; pause it to be exact. */
export interface BackendFiles {
  /** an environment as it is now */
  view(id: EnvironmentId, instance: Instance): View
  snapshotView(snapshot: SnapshotRecord): View
  /** the files that an environment or snapshot started from, before any writes inside */
  baseView(view: View): View
  /** how the files of `b` differ from those of `a`, sorted by path */
  changes(a: View, b: View, options?: ChangesOptions): Promise<FileChange[]>
  /** these paths, and everything below those that are directories; refuses a path that does not exist */
  entries(view: View, paths: readonly string[]): Promise<InsideEntry[]>
  /** a change between the two as a patch; empty if it has no text */
  patch(change: FileChange, a: View, b: View): Promise<string>
  /** the content of a regular file; does not follow symlinks */
  openFile(view: View, path: string): Promise<Readable>
  /** SHA-256 in hex by path; null if it is not a regular file */
  digests(view: View, paths: readonly string[]): Promise<Map<string, string | null>>
  /**
   * These paths as a tar archive. Names are bytes, and directories come before their contents. The last
   * entry is a report; without it the archive is incomplete (native/cell/archive/archive.c).
   */
  archive(view: View, specs: readonly CopySpec[]): Readable
}

/** What a backend can do, apart from its facets. */
export type DeclaredCapability = Exclude<
  Capability,
  'pause' | 'diff' | 'compact' | 'attach' | 'net-switch' | 'connections'
>

/** A way to make environments: a core that every backend has, and facets that some have. */
export interface Backend extends AsyncDisposable {
  readonly name: BackendName
  readonly declares: readonly DeclaredCapability[]
  /** probes this machine for what it needs */
  check(): Promise<readonly Check[]>
  /** refuses an unusable source before anything is made; gets or builds an image, if that is the source */
  validate(source: Source, signal?: AbortSignal): Promise<ValidSource>
  create(spec: CreateSpec, signal?: AbortSignal): Promise<Instance>
  /** a byte stream to the agent, over a socket that the agent bound before other code ran inside */
  connect(ref: Ref): Promise<Duplex>
  /** the ids of those that still have processes */
  alive(refs: readonly Ref[]): Promise<ReadonlySet<EnvironmentId>>
  inspect(ref: Ref): Promise<InstanceState>
  /** `head` is the snapshot that it came from, or that was last taken of it */
  stats(ref: Ref, head: SnapshotId | null): Promise<InstanceStats>
  /** replaces identity.json, where the environment reads about itself */
  identify(ref: Ref, identity: Identity): Promise<void>
  /** captures files and, in full mode, processes */
  capture(ref: Ref, draft: SnapshotId, options: CaptureOptions): Promise<CaptureResult>
  /** undoes a capture, whatever step it ended at; without `ref`, only discards what it took */
  abandon(ref: Ref | null, draft: SnapshotId): Promise<void>
  materialize(spec: MaterializeSpec): Promise<Instance>
  /** ends one life after another has taken over from it */
  end(ref: Ref): Promise<void>
  /** ends every life of this environment except `keep`, which gets the network link back */
  retire(id: EnvironmentId, keep: Instance | null): Promise<void>
  /** removes everything that exists under this id, including what a killed `create` left */
  destroy(id: EnvironmentId): Promise<void>
  /** deletes the data of a snapshot */
  discard(id: SnapshotId): Promise<void>
  /** everything found on the machine, whether or not there is a record of it */
  remnants(): Promise<readonly Remnant[]>

  /** the logs of what failed last, newest first */
  failureLogs?(): FailureLog[]

  readonly pausing?: Pausing
  readonly networking?: Networking
  readonly attaching?: Attaching
  readonly files?: BackendFiles
  readonly connections?: Connections
  readonly spares?: Spares
  readonly storage?: Storage
  readonly images?: Images
  readonly machine?: Machine
  readonly extras?: Extras
  readonly withProcesses?: ProcessesVariant
}

/** What a tool of the backend wrote when it could not dump or restore processes. */
export interface FailureLog {
  readonly name: string
  readonly doing: 'dump' | 'restore'
  /** milliseconds since 1970 */
  readonly at: number
  readonly path: string
  readonly text: string
}

/** Makes one kind of backend. Opening it starts nothing and changes nothing. */
export interface BackendMaker {
  /** what it cannot work without, checked before the store is opened */
  prerequisites?(): readonly Check[]
  open(context: BackendContext): Backend
}

/** A trace of an environment that was found on the machine. */
export interface Remnant {
  readonly id: EnvironmentId
  /** whether it belongs to this life of the environment */
  isPartOf(instance: Instance): boolean
  /** ends that life, and no other */
  end(): Promise<void>
}
