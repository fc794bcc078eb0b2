import type { Header } from 'tar-stream'
import { bytesToText } from '../../../agent/files/byte-text.ts'
import type { CopyReport } from '../../../model/files/copy-report.ts'
import { malformed } from './malformed.ts'
import { bytesOf, type TarEntry } from './tar-entry.ts'

/** The limits of native/cell/archive/archive.c. */
const mostBytes = 8 * 1024 ** 2
const mostLeftOut = 1000

/**
 * The last entry of a complete archive. No file can pass for it, because tar-stream does not know its
 * type, and the engine uses that type for nothing else.
 */
export function isReport(header: Header): boolean {
  const type: string | null = header.type
  return type === null && header.name === '.forkpoint-report'
}

/** The format is `ENTRIES BYTES`, then the paths that were left out; each ends with NUL. */
export async function readReport(entry: TarEntry): Promise<CopyReport> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of bytesOf(entry)) {
    length += chunk.length
    if (length > mostBytes) throw malformed('its report is too long')
    chunks.push(chunk)
  }
  const bytes = Buffer.concat(chunks)
  const counts = /^(\d{1,15}) (\d{1,15})$/.exec(nextString(bytes, 0))
  if (counts === null) throw malformed('its report cannot be read')
  const leftOut: string[] = []
  for (let at = counts[0].length + 1; at < bytes.length && leftOut.length < mostLeftOut; ) {
    const end = endOf(bytes, at)
    leftOut.push(`/${bytesToText(bytes.subarray(at, end))}`)
    at = end + 1
  }
  return { entries: Number(counts[1]), bytes: Number(counts[2]), leftOut }
}

function nextString(bytes: Buffer, at: number): string {
  return bytes.subarray(at, endOf(bytes, at)).toString('latin1')
}

function endOf(bytes: Buffer, at: number): number {
  const end = bytes.indexOf(0, at)
  if (end < 0) throw malformed('its report cannot be read')
  return end
}
