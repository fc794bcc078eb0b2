import { expect, test } from 'vitest'
import { fileEntry, timerfdEntry } from '../../../src/criu/images/format/criu-messages.ts'
import type { ImageFile } from '../../../src/criu/images/format/image-file.ts'
import { make, read } from '../../../src/criu/images/format/schema.ts'
import { rearmTimers } from '../../../src/criu/images/timers.ts'

interface Timer {
  readonly ticks: number
  readonly value: readonly [seconds: number, nanoseconds: number]
  readonly interval: readonly [seconds: number, nanoseconds: number]
}

/** Files of a dump, as CRIU 4.2 writes them: a regular file and these timers. */
function filesWith(timers: readonly Timer[]): ImageFile {
  const head = Buffer.from('194356540d1c4056', 'hex')
  const plain = make(fileEntry, { type: 1, id: 7, reg: Buffer.from([8, 7]) })
  const entries = timers.map(({ ticks, value, interval }, id) => {
    const [[vsec, vnsec], [isec, insec]] = [value, interval]
    const tfd = make(timerfdEntry, { ticks, vsec, vnsec, isec, insec })
    return make(fileEntry, { type: 17, id, tfd })
  })
  return { head, entries: [plain, ...entries] }
}

function valuesOf(files: ImageFile): number[][] {
  return files.entries.flatMap((entry) => {
    const { tfd } = read(fileEntry, entry)
    if (!tfd) return []
    const { ticks, vsec, vnsec, isec, insec } = read(timerfdEntry, tfd)
    return [[ticks, vsec, vnsec, isec, insec]]
  })
}

const every20ms = [0, 20_000_000] as const
const expired: Timer = { ticks: 1, value: [0, 0], interval: every20ms }
const others: Timer[] = [
  { ticks: 0, value: [0, 12_345], interval: every20ms },
  { ticks: 1, value: [0, 0], interval: [0, 0] },
  { ticks: 0, value: [0, 0], interval: every20ms },
]

test('a periodic timer that expired and was not read is due immediately', () => {
  const files = rearmTimers(filesWith([...others, expired]))
  const [running, single, off, rearmed] = valuesOf(files)
  expect(rearmed).toEqual([1, 0, 1, 0, 20_000_000])
  expect([running, single, off]).toEqual(valuesOf(filesWith(others)))
})

test('any other timer is left as it is', () => {
  const files = filesWith(others)
  expect(rearmTimers(files)).toBe(files)
})
