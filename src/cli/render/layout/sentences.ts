// What the verbs print when they are done; `quickstart` prints the same.
import type { CachedImage, Lost, SnapshotInfo } from '../../../index.ts'
import { type CopiedReason, copiedReasons } from '../../../model/copied-reasons.ts'
import { lostInWords } from '../../../model/text/lost.ts'
import { printable } from '../../../model/text/printable.ts'
import { formatBytes, formatDuration } from '../../../model/values/quantities.ts'
import { labelOf, type Named } from '../environment.ts'

export function created(environment: Named): string {
  return `created ${labelOf(environment)}`
}

export function attached(environment: Named, target: string): string {
  return `attached to ${printable(target)} as ${labelOf(environment)}`
}

export function taken(snapshot: SnapshotInfo): string {
  const { pauseMs, totalMs } = snapshot.timing
  const times = `${formatDuration(totalMs)}, paused for ${formatDuration(pauseMs)}`
  const sentence = `took snapshot ${labelOf(snapshot)} in ${times}`
  return [sentence, ...memoryOf(snapshot), ...lostOf(snapshot)].join('\n')
}

const mostLost = 5

/** What copies do not have. */
export function lostOf({ lost = [] }: { readonly lost?: readonly Lost[] }): string[] {
  const lines = lost.slice(0, mostLost).map((each) => `lost: ${printable(lostInWords(each))}`)
  const more = lost.length - lines.length
  return more > 0 ? [...lines, `lost: ${more} more; --json lists all`] : lines
}

/** Which memory forks will share, and why the rest is copied. */
function memoryOf({ memory }: SnapshotInfo): string[] {
  if (!memory) return []
  const parts = memory.sharedBytes > 0 ? [`${formatBytes(memory.sharedBytes)} shared`] : []
  parts.push(...copiedReasons(memory).map(copied))
  return parts.length === 0 ? [] : [`memory: ${parts.join(', ')}`]
}

export function copied({ bytes, command, why }: CopiedReason): string {
  return `${formatBytes(bytes)} copied of ${printable(`${command} (${why})`)}`
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

export function removedImage({ names, id }: CachedImage): string {
  return `removed image ${printable(names[0] ?? id)}`
}
