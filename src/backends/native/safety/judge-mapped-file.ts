import { type BigIntStats, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import type { Range } from './elf.ts'
import { type FileVerdict, judgeFile } from './judge-file.ts'
import type { MappedFile } from './mapped-files.ts'
import { type VerdictCache, verdictKey } from './verdict-cache.ts'

/** The verdict on a file, from the cache where it is known; a promise where it has to be read. */
export function judgeMappedFile(
  file: MappedFile,
  cache: VerdictCache,
): FileVerdict | Promise<FileVerdict> {
  if (file.path.startsWith('/memfd:')) return { safe: false, why: 'a file in memory' }
  const stats = statOf(file.link)
  if (!stats?.isFile()) return unreadable
  const key = verdictKey(file.name, stats)
  return cache.get(key) ?? judgeAndRemember(file, key, cache)
}

const unreadable: FileVerdict = { safe: false, why: 'cannot be read' }

function statOf(link: string): BigIntStats | null {
  try {
    return statSync(link, { bigint: true })
  } catch {
    return null
  }
}

async function judgeAndRemember(
  file: MappedFile,
  key: string,
  cache: VerdictCache,
): Promise<FileVerdict> {
  const verdict = await readAndJudge(file).catch(() => null)
  if (verdict === null) return unreadable
  cache.set(key, verdict)
  return verdict
}

async function readAndJudge({ link, name }: MappedFile): Promise<FileVerdict> {
  await using handle = await open(link)
  const { size } = await handle.stat()
  return await judgeFile(name, size, async ({ offset, length }: Range) => {
    const bytes = Buffer.allocUnsafe(length)
    const { bytesRead } = await handle.read(bytes, 0, length, offset)
    return bytes.subarray(0, bytesRead)
  })
}
