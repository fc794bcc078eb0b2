import { ResourceError } from './errors.ts'
import { formatBytes } from './values/quantities.ts'

/** What this machine may be asked for; null: no limit. */
export interface AdmissionLimits {
  readonly environments: number | null
  /** what all environments may use together: the sum of their memory limits */
  readonly memoryBytes: number | null
  /** operations at once that make, capture or replace environments */
  readonly branchOperations: number | null
  /** what must be left on the disk of the home */
  readonly diskBytes: number | null
}

/** What one principal may ask for, where several share an engine. */
export interface Share extends Pick<AdmissionLimits, 'environments' | 'memoryBytes'> {
  /** what its environments may use together: the sum of their disk limits and of what its snapshots take */
  readonly diskBytes: number | null
}

export interface AdmissionSettings extends AdmissionLimits {
  readonly each: Share
}

/** What ran out, for whoever has to say it in another way: as the status of an answer, for example. */
export type ScarceThing = keyof AdmissionLimits

interface Refusal {
  readonly scarce: ScarceThing
  readonly remedy: string
  readonly retryAfterMs: number
  readonly detail?: Readonly<Record<string, unknown>>
}

/** The error for what was not even begun, because this machine has no room for it now. */
export function refused(message: string, refusal: Refusal): ResourceError {
  const { scarce, remedy, retryAfterMs, detail } = refusal
  return new ResourceError(message, { remedy, detail: { ...detail, scarce, retryAfterMs } })
}

/** Disks rarely get free by themselves. */
const diskRetryMs = 60_000

export function diskRefused(home: string, freeBytes: number, neededBytes: number): ResourceError {
  return refused(`the disk of ${home} is nearly full, with ${formatBytes(freeBytes)} left`, {
    scarce: 'diskBytes',
    remedy: `free at least ${formatBytes(neededBytes - freeBytes)} there, or remove snapshots with \`forkpoint prune\``,
    retryAfterMs: diskRetryMs,
    detail: { home, freeBytes, neededBytes },
  })
}
