import { join } from 'node:path'
import { livePagesName } from '../../../criu/memory/pages-files.ts'
import type { Verdicts } from '../../../criu/memory/verdicts.ts'
import type { Baseline } from '../../../criu/tracking/baseline.ts'
import { copyLive } from '../../../criu/tracking/live-copy.ts'
import { armWhileRunning } from '../../../criu/tracking/tracker.ts'
import { killPoint } from '../../../linux/kill-points.ts'
import { readOfProcess } from '../../../linux/process-files.ts'
import { processesIn } from '../../../linux/processes-in.ts'
import { msSince, type Stopwatch } from '../../../linux/stopwatch.ts'
import { UnsupportedError } from '../../../model/errors.ts'
import type { Native } from '../native.ts'
import { trackedLife, trackingPlace } from './baselines.ts'
import { continueForLiveCopy, freezeNoting } from './continue-original.ts'
import type { FullSubject } from './take-processes.ts'

/** Dumping this much in the stop takes longer than the second stop that a live copy needs. */
const muchBytes = 128 * 2 ** 20
/** For less, another file and its mappings take longer; if live copying was asked for, it is worth it. */
const leastBytes = 16 * 2 ** 20
const leastAskedBytes = 2 ** 20
const pageBytes = 4096

export interface Live {
  readonly baseline: Baseline
  /** how long the environment stood still for it, at most */
  readonly stopMs: number
}

/**
 * Copies new memory while the environment runs, so that the stop takes only what is written meanwhile. It
 * stops for two moments before, to have the kernel note writes. Null if it is not worth it.
 */
export async function liveCopy(
  native: Native,
  subject: FullSubject,
  earlier: Baseline | string,
  verdicts: Verdicts,
  watch: Stopwatch,
): Promise<Live | null> {
  const { id, instance, snapshot } = subject
  const cgroups = native.cgroups(id, instance.slot)
  const before = typeof earlier === 'string' ? null : earlier
  if (!(await isWanted(native, subject, cgroups[0], before))) return null
  const life = { ...trackedLife(native, subject, 'written'), since: `live-${snapshot}` }
  const stop = async (step: 'prepare' | 'live') => {
    const { frozenAt } = await freezeNoting(native, cgroups)
    await continueForLiveCopy(native, cgroups, life, step)
    return msSince(frozenAt)
  }
  const first = await watch.measure('prepare', () => stop('prepare'))
  await watch.measure('arm', () => armWhileRunning(native.tools, life))
  const second = await watch.measure('track', () => stop('live'))
  killPoint('snapshot:armed')
  const baseline = await watch.measure('live', () =>
    copyLive(native.tools, {
      life: life.directory,
      since: life.since,
      leastBytes: subject.live === true ? leastAskedBytes : leastBytes,
      directory: join(trackingPlace(native, snapshot), 'live'),
      earlier: before,
      pagesFileOf: (pid) =>
        verdicts.get(pid)?.allowed === true ? livePagesName(snapshot, pid) : null,
    }),
  )
  killPoint('snapshot:copied-live')
  return baseline && { baseline, stopMs: Math.max(first, second) }
}

async function isWanted(
  native: Native,
  { live, after }: FullSubject,
  cgroup: string,
  before: Baseline | null,
): Promise<boolean> {
  if (live === false || after !== 'continue') return false
  if (live === undefined && newBytes(cgroup, before) < muchBytes) return false
  if (live === undefined && (await native.tracking()).kind !== 'written') return false
  const whyNot = await native.whyNotTrackable()
  if (whyNot === null) return true
  if (live === undefined) return false
  const message = `memory cannot be copied while the environment runs: ${whyNot}`
  throw new UnsupportedError('processes', message, { remedy: 'take the snapshot without `live`' })
}

/** Memory that the snapshot before does not have, of processes that have enough of it to be copied live. */
function newBytes(cgroup: string, before: Baseline | null): number {
  const each = processesIn(cgroup).map((pid) => before?.written.get(pid) ?? anonymousBytes(pid))
  return each.filter((bytes) => bytes >= leastBytes).reduce((sum, bytes) => sum + bytes, 0)
}

/** Resident memory that is not of a file. */
function anonymousBytes(pid: number): number {
  const statm = readOfProcess(pid, 'statm') ?? ''
  const [, resident = 0, ofFiles = 0] = statm.split(' ').map(Number)
  return (resident - ofFiles) * pageBytes
}
