/** The results of a benchmark run, as `--json` prints them. */

export const groupNames = [
  'operations',
  'size',
  'fanout',
  'chain',
  'memory',
  'writing',
  'pause',
  'soak',
  'backends',
] as const
export type GroupName = (typeof groupNames)[number]

/** Other tools. */
export const peerNames = ['criu', 'podman', 'docker', 'copy'] as const
export type PeerName = (typeof peerNames)[number]

/** An engine of Forkpoint: this one, this one on a volume of ext4, or that of another checkout. */
export type EngineName = 'forkpoint' | 'ext4' | 'before'

/** The backends of Forkpoint, in the order of the tables. */
export const backendNames = [
  'native',
  'docker',
  'docker-processes',
  'podman',
  'podman-criu',
  'criu',
  'gvisor',
] as const
export type BackendName = (typeof backendNames)[number]
export type BackendBy = `${BackendName} backend`

/** What was measured. */
export type By = EngineName | PeerName | BackendBy

/** A backend that was asked for. */
export interface BackendFacts {
  readonly backend: BackendName
  /** what its snapshots hold; empty if it is missing */
  readonly captured: readonly string[]
  /** why it is not there, with the remedy; null if it was measured */
  readonly missing: string | null
}

/** Samples of one subject. */
export interface Series {
  readonly by: By
  readonly what: string
  /** the workload */
  readonly on: string
  /** megabytes held, forks or depth of the chain, if the group varies one of them */
  readonly at?: number
  readonly unit: 'ms' | 'bytes'
  readonly samples: readonly number[]
}

export interface Machine {
  readonly cpus: number
  readonly cpuModel: string
  readonly memoryBytes: number
  readonly kernel: string
  /** versions of the programs that were measured, by name; null if one is missing */
  readonly versions: Readonly<Record<string, string | null>>
}

export type Bound = { readonly atLeast: number } | { readonly below: number }

/** A promise, and whether this run kept it. */
export interface PromiseResult {
  readonly what: string
  readonly unit: 'times' | 'bytes' | 'ms' | 'percent'
  readonly promised: Bound
  /** null if it was not measured in this run */
  readonly measured: number | null
  readonly met: boolean | null
}

export interface Missing {
  readonly what: string
  readonly why: string
}

export interface Results {
  readonly machine: Machine
  readonly startedAt: string
  readonly tookMs: number
  readonly rounds: number
  /** the other checkout that took turns with this one, by its commit if it has one */
  readonly against?: string
  readonly groups: Readonly<Partial<Record<GroupName, readonly Series[]>>>
  /** absent unless backends were compared */
  readonly backends?: readonly BackendFacts[]
  /** workloads and peers that this machine lacks */
  readonly missing: readonly Missing[]
  /** what failed; the rest was still measured */
  readonly failed: readonly Missing[]
  readonly promises: readonly PromiseResult[]
}

type Sought = Pick<Series, 'by' | 'what' | 'on'> & { readonly at?: number | undefined }

/** The samples of one subject; empty if it was not measured. */
export function samplesOf(series: readonly Series[] = [], sought: Sought): readonly number[] {
  const found = series.find(
    ({ by, what, on, at }) =>
      by === sought.by && what === sought.what && on === sought.on && at === sought.at,
  )
  return found?.samples ?? []
}
