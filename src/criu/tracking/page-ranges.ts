import { unknownFormat } from '../images/format/unknown-format.ts'
import type { Addresses } from '../images/memory/pages.ts'
import { joinRanges } from '../images/memory/ranges.ts'

/**
 * The files through which the helpers, CRIU and the surgery speak about pages (see native/preload/clean-pages.c
 * and native/cell/tracking/live.c).
 * All numbers have 64 bits.
 */

/** By the host's pid. */
export type RangesOfProcesses = ReadonlyMap<number, readonly Addresses[]>

const wordBytes = 8

/** `known`: for each process its pid, the number of its ranges, and the ranges. */
export function encodeKnown(processes: RangesOfProcesses): Buffer {
  const words = [...processes].flatMap(([pid, ranges]) => [
    pid,
    ranges.length,
    ...ranges.flatMap(({ start, end }) => [start, end]),
  ])
  return Buffer.from(BigUint64Array.from(words, BigInt).buffer)
}

/** `clean`, `armed`, `copied`: a pid, a start and an end for each run. */
export function decodePages(bytes: Buffer): RangesOfProcesses {
  const found = new Map<number, Addresses[]>()
  if (bytes.length % (3 * wordBytes) !== 0)
    throw unknownFormat('list of pages', 'its last run is cut off')
  for (let at = 0; at < bytes.length; at += 3 * wordBytes) {
    const [pid, start, end] = [0, 1, 2].map((word) =>
      Number(bytes.readBigUInt64LE(at + word * wordBytes)),
    )
    if (pid === undefined || start === undefined || end === undefined) continue
    const ranges = found.get(pid) ?? []
    ranges.push({ start, end })
    found.set(pid, ranges)
  }
  return new Map([...found].map(([pid, ranges]) => [pid, joinRanges(ranges)]))
}
