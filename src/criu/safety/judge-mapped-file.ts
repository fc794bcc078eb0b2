import { type BigIntStats, constants, statSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Budget, TooSlow } from './budget.ts'
import type { Range } from './elf.ts'
import { type FileVerdict, judgeFile } from './judge-file.ts'
import type { MappedFile } from './mapped-files.ts'
import { type VerdictCache, verdictKey } from './verdict-cache.ts'

/** A verdict, and the key of the exact file that it is about. */
export interface KeyedVerdict {
  readonly key: string
  readonly verdict: FileVerdict
}

export interface Judging {
  readonly cache: VerdictCache
  readonly budget: Budget
}

/** The key of the file as it is now; null if it is gone or not a regular file. */
export function keyOf({ link, name }: MappedFile): string | null {
  const stats = statOf(link)
  return stats?.isFile() ? verdictKey(name, stats) : null
}

/** Uses the cache. Null if there is nothing to judge, or it could not be judged. */
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

/** A file that took too long is not tried again with every snapshot; other failures may be temporary. */
function undecided(error: unknown): FileVerdict | null {
  if (!(error instanceof TooSlow)) return null
  return { safe: false, why: error.message, isForNow: true }
}

function statOf(link: string): BigIntStats | null {
  try {
    return statSync(link, { bigint: true })
  } catch {
    // Its process has ended or unmapped it.
    return null
  }
}

/** The longest tick of file times in any kernel: two writes within one tick have the same time. */
const tickMs = 10
/** O_PATH, which Node does not name: really opening a device may have an effect. */
const pathOnly = 0o10000000

/** Null if the file has changed in the meantime. */
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
  // Without this, a file lease (fcntl F_SETLEASE) could make us wait for its holder.
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
