import { type BigIntStats, constants, statSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Budget, TooSlow } from './budget.ts'
import type { Range } from './elf.ts'
import { type FileVerdict, judgeFile } from './judge-file.ts'
import type { MappedFile } from './mapped-files.ts'
import { type VerdictCache, verdictKey } from './verdict-cache.ts'

/** A verdict, and the very file that it is about. */
export interface KeyedVerdict {
  readonly key: string
  readonly verdict: FileVerdict
}

export interface Judging {
  readonly cache: VerdictCache
  readonly budget: Budget
}

/** What this file is now; null if it is not a regular file, or gone. */
export function keyOf({ link, name }: MappedFile): string | null {
  const stats = statOf(link)
  return stats?.isFile() ? verdictKey(name, stats) : null
}

/** From the cache where it is known. Null: there is nothing that a verdict could be about. */
export async function judgeMappedFile(
  file: MappedFile,
  { cache, budget }: Judging,
): Promise<KeyedVerdict | null> {
  const key = keyOf(file)
  if (key === null) return null
  const known = cache.get(key)
  if (known) return { key, verdict: known }
  const verdict = await budget.wait(readAndJudge(file, key, budget)).catch(undecided)
  if (verdict !== null) cache.set(key, verdict)
  return verdict && { key, verdict }
}

/** What took all the time is not tried again with every snapshot; another failure may pass. */
function undecided(error: unknown): FileVerdict | null {
  if (!(error instanceof TooSlow)) return null
  return { safe: false, why: error.message, isForNow: true }
}

function statOf(link: string): BigIntStats | null {
  try {
    return statSync(link, { bigint: true })
  } catch {
    return null
  }
}

/** The largest tick by which kernels stamp files: what is written within one tick looks the same. */
const tickMs = 10
/** Names a file without opening it, which may do something if it is a device; Node has no name for it. */
const pathOnly = 0o10000000

/** Null if the file became another one meanwhile. */
async function readAndJudge(
  file: MappedFile,
  key: string,
  budget: Budget,
): Promise<FileVerdict | null> {
  await using named = await open(file.link, pathOnly)
  const stats = await named.stat({ bigint: true })
  if (!stats.isFile() || verdictKey(file.name, stats) !== key) return null
  const age = Date.now() - Number(stats.ctimeNs / 1_000_000n)
  if (age < 0) return null
  if (age <= 2 * tickMs) await sleep(2 * tickMs - age + 1)
  // Not to wait for the holder of a lease.
  const reading = constants.O_RDONLY | constants.O_NONBLOCK
  await using handle = await open(`/proc/self/fd/${named.fd}`, reading)
  const verdict = await judgeFile(file.name, Number(stats.size), budget.meter(reader(handle)))
  const after = verdictKey(file.name, await handle.stat({ bigint: true }))
  return after === key ? verdict : null
}

function reader(handle: FileHandle) {
  return async ({ offset, length }: Range) => {
    const bytes = Buffer.allocUnsafe(length)
    const { bytesRead } = await handle.read(bytes, 0, length, offset)
    return bytes.subarray(0, bytesRead)
  }
}
