/** What a benchmark run found, as `--json` prints it. */

export const groupNames = ['operations', 'size', 'fanout', 'chain', 'soak'] as const
export type GroupName = (typeof groupNames)[number]

/** Who did what was measured. */
export type By = 'forkpoint' | 'criu' | 'podman' | 'docker' | 'copy'

/** Values measured of one and the same thing. */
export interface Series {
  readonly by: By
  readonly what: string
  /** the workload */
  readonly on: string
  /** megabytes held, forks or depth of the chain, where a group varies one of them */
  readonly at?: number
  readonly unit: 'ms' | 'bytes'
  readonly samples: readonly number[]
}

export interface Machine {
  readonly cpus: number
  readonly cpuModel: string
  readonly memoryBytes: number
  readonly kernel: string
  /** of the programs that were measured, by name; null where one is missing */
  readonly versions: Readonly<Record<string, string | null>>
}

export type Bound = { readonly atLeast: number } | { readonly below: number }

export interface Verdict {
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
  readonly groups: Readonly<Partial<Record<GroupName, readonly Series[]>>>
  /** workloads and peers that are not here */
  readonly missing: readonly Missing[]
  /** what went wrong; the rest was measured all the same */
  readonly failed: readonly Missing[]
  readonly promises: readonly Verdict[]
}

type Sought = Pick<Series, 'by' | 'what' | 'on'> & { readonly at?: number }

/** The samples of one thing; none if it was not measured. */
export function samplesOf(series: readonly Series[] = [], sought: Sought): readonly number[] {
  const found = series.find(
    ({ by, what, on, at }) =>
      by === sought.by && what === sought.what && on === sought.on && at === sought.at,
  )
  return found?.samples ?? []
}
