// What the verbs say when they are done; `quickstart` says the same.
import type { SnapshotInfo } from '../../index.ts'
import { printable } from '../../model/printable.ts'
import { formatBytes, formatDuration } from '../../model/quantities.ts'
import { labelOf } from './environment.ts'

type Named = Parameters<typeof labelOf>[0]

export function created(environment: Named): string {
  return `created ${labelOf(environment)}`
}

export function taken(snapshot: SnapshotInfo): string {
  const { pauseMs, totalMs } = snapshot.timing
  const times = `${formatDuration(totalMs)}, paused for ${formatDuration(pauseMs)}`
  return [`took snapshot ${labelOf(snapshot)} in ${times}`, ...memoryOf(snapshot)].join('\n')
}

/** Less than this is not worth a word. */
const leastBytes = 1024 ** 2

/** Which memory forks will have in common, and why others' not. */
function memoryOf({ memory }: SnapshotInfo): string[] {
  if (!memory) return []
  const copied = memory.processes.filter((one) => !one.shared && one.copiedBytes >= leastBytes)
  const told = [
    ...(memory.sharedBytes > 0 ? [`${formatBytes(memory.sharedBytes)} shared`] : []),
    ...copied.map(
      (one) =>
        `${formatBytes(one.copiedBytes)} copied of ${printable(`${one.command} (${one.why})`)}`,
    ),
  ]
  return told.length === 0 ? [] : [`memory: ${told.join(', ')}`]
}

export function restored(environment: Named, snapshot: Named): string {
  return `restored ${labelOf(environment)} to ${labelOf(snapshot)}`
}

export function forked(environments: readonly Named[]): string {
  return environments.map((environment) => `forked ${labelOf(environment)}`).join('\n')
}

export function promoted(from: Named, into: Named): string {
  return `promoted ${labelOf(from)} into ${labelOf(into)}`
}

export function removed(things: readonly Named[]): string {
  return things.map((thing) => `removed ${labelOf(thing)}`).join('\n')
}
