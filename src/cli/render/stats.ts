import type { InstanceStats } from '../../index.ts'
import { copiedReasons } from '../../model/copied-reasons.ts'
import { formatBytes, formatDuration } from '../../model/values/quantities.ts'
import { copied } from './layout/sentences.ts'

/** `cpus`: how many were busy since the last measurement, if there was one. */
export function statsFacts(stats: InstanceStats, cpus?: number): [string, string][] {
  const { memoryBytes, memoryLimitBytes, memory, cpuMs, processes, processLimit } = stats
  const { terminals, diskBytes, diskUsedBytes, diskLimitBytes } = stats
  const busy = cpus === undefined ? '' : `, ${Math.round(cpus * 100)} % of a CPU now`
  return [
    ['memory', ofLimit(memoryBytes, memoryLimitBytes, formatBytes)],
    ['private', formatBytes(memory.privateBytes)],
    ['shared', `${formatBytes(memory.sharedBytes)} of its snapshots' pages`],
    ...forkFacts(stats),
    ['cpu time', `${formatDuration(cpuMs)}${busy}`],
    ['processes', ofLimit(processes, processLimit, String)],
    ...(terminals ? [['terminals', String(terminals)] satisfies [string, string]] : []),
    ['files changed', formatBytes(diskBytes)],
    ...(diskUsedBytes === null ? [] : [diskFact(diskUsedBytes, diskLimitBytes)]),
    ...rateFacts(stats),
  ]
}

/** What everything made from its last snapshot shares with that, and what is copied, and why. */
function forkFacts({ headMemory }: InstanceStats): [string, string][] {
  if (headMemory === null) return []
  const { sharedBytes, copiedBytes } = headMemory
  const amounts = `${formatBytes(sharedBytes)} shared, ${formatBytes(copiedBytes)} copied`
  const reasons = copiedReasons(headMemory).map((reason): [string, string] => ['', copied(reason)])
  return [['each fork', amounts], ...reasons]
}

function rateFacts(stats: InstanceStats): [string, string][] {
  const rates: [string, number | null][] = [
    ['reads', stats.ioReadLimitBytes],
    ['writes', stats.ioWriteLimitBytes],
    ['network', stats.netLimitBytes],
  ]
  return rates.flatMap(([name, bytes]): [string, string][] =>
    bytes === null ? [] : [[name, `at most ${formatBytes(bytes)}/s`]],
  )
}

function diskFact(used: number, limit: number | null): [string, string] {
  return ['disk', ofLimit(used, limit, formatBytes)]
}

function ofLimit(used: number, limit: number | null, format: (n: number) => string): string {
  return limit === null ? format(used) : `${format(used)} of ${format(limit)}`
}
