import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ifExists } from '../../linux/files/if-exists.ts'
import { namesIn } from '../../linux/files/names-in.ts'
import type { Tools } from '../../linux/tools.ts'
import type { SnapshotId } from '../../model/ids.ts'
import type { MemoryTracking } from '../../model/snapshot.ts'
import type { Addresses } from '../images/memory/pages.ts'
import { joinRanges } from '../images/memory/ranges.ts'
import { describeProcess } from '../safety/judge-process.ts'
import { decodePages, encodeKnown } from './page-ranges.ts'
import { holdPrevious, type Previous } from './previous.ts'
import { trackedSince } from './tracker.ts'

/** The snapshot that the next dump is compared with: pages that have not changed since stay there. */
export interface Baseline {
  readonly previous: Previous
  /** directory through which CRIU learns about it, and says which pages it left out */
  readonly directory: string
  /** pids inside, by the host's */
  readonly pids: ReadonlyMap<number, number>
  /** how many bytes processes have written since, by the host's pid */
  readonly written: ReadonlyMap<number, number>
  readonly why: MemoryTracking
}

export interface BaselineRequest {
  /** the environment's head, and its directory; null if it has none */
  readonly head: { readonly id: SnapshotId; readonly directory: string } | null
  /** directory of the life that is dumped */
  readonly life: string
  /** a new directory for what the dump needs */
  readonly directory: string
}

/** Returns why if the dump has to be a full one. */
export async function openBaseline(
  tools: Tools,
  { head, life, directory }: BaselineRequest,
): Promise<Baseline | string> {
  if (head === null) return 'it is the first snapshot'
  const tracked = await trackedSince(tools, life, head.id)
  if (tracked.size === 0) return 'writes since the snapshot before were not tracked'
  const previous = await holdPrevious(head.directory, join(directory, 'previous'))
  if (previous === null) return 'the snapshot before is gone'
  const pids = pidsInside([...tracked.keys()])
  writeKnown(directory, pids, previous)
  return { previous, directory, pids, written: tracked, why: sinceBefore }
}

const sinceBefore: MemoryTracking = {
  mode: 'written',
  why: 'the kernel noted what was written since the snapshot before',
}

/** Tells the next dump what need not be dumped unless it was written. */
export function writeKnown(
  directory: string,
  pids: ReadonlyMap<number, number>,
  { contents }: Pick<Previous, 'contents'>,
): void {
  const known = [...pids].flatMap(([pid, inside]): [number, Addresses[]][] => {
    const pieces = contents.get(inside)
    return pieces === undefined ? [] : [[pid, joinRanges(pieces)]]
  })
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  writeFileSync(join(directory, 'known'), encodeKnown(new Map(known)))
}

/** Only where there is no doubt: in a pid namespace of their own, two could have the same pid inside. */
export function pidsInside(tracked: readonly number[]): Map<number, number> {
  const described = tracked.map((pid) => [pid, describeProcess(pid).pid] as const)
  const users = Map.groupBy(described, ([, inside]) => inside)
  return new Map(described.filter(([, inside]) => users.get(inside)?.length === 1))
}

/** Forgets what a dump left out, and knew, that is repeated after the processes have run. */
export function forgetDump({ directory }: Baseline): void {
  const outdated = namesIn(directory).filter((name) => /^clean$|^smaps/.test(name))
  for (const name of outdated) rmSync(join(directory, name))
}

/** The pages that the dump left out, by the pid inside. */
export function cleanPages({ directory, pids }: Baseline): Map<number, readonly Addresses[]> {
  const bytes = ifExists(() => readFileSync(join(directory, 'clean')))
  const clean = bytes === null ? new Map<number, Addresses[]>() : decodePages(bytes)
  return new Map([...clean].map(([pid, ranges]) => [pids.get(pid) ?? pid, ranges]))
}
