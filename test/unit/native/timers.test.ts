import { expect, test } from 'vitest'
import { decodeImage, encodeImage } from '../../../src/backends/native/images/image-file.ts'
import {
  bytesField,
  decodeMessage,
  encodeMessage,
  numberOf,
  varintField,
} from '../../../src/backends/native/images/message.ts'
import { rearmTimers } from '../../../src/backends/native/images/timers.ts'

interface Timer {
  readonly ticks: number
  readonly value: readonly [seconds: number, nanoseconds: number]
  readonly interval: readonly [seconds: number, nanoseconds: number]
}

/** Files of a dump, as CRIU 4.2 writes them: a regular file and these timers. */
function filesWith(timers: readonly Timer[]): Buffer {
  const head = Buffer.from('194356540d1c4056', 'hex')
  const plain = [varintField(1, 1n), varintField(2, 7n), bytesField(3, Buffer.from([8, 7]))]
  const entries = timers.map(({ ticks, value, interval }, index) => {
    const numbers = [index, 2, 1, ticks, 0, ...value, ...interval]
    const fields = [1, 2, 4, 5, 6, 7, 8, 9, 10].map((number, at) =>
      varintField(number, BigInt(numbers[at] ?? 0)),
    )
    return [
      varintField(1, 17n),
      varintField(2, BigInt(index)),
      bytesField(12, encodeMessage(fields)),
    ]
  })
  return encodeImage({ head, entries: [plain, ...entries].map(encodeMessage) })
}

function valuesOf(files: Buffer): (number | undefined)[][] {
  return decodeImage(files).entries.flatMap((entry) => {
    const inner = decodeMessage(entry).find(({ number }) => number === 12)?.value
    if (!Buffer.isBuffer(inner)) return []
    const timer = decodeMessage(inner)
    return [[5, 7, 8, 9, 10].map((number) => numberOf(timer, number))]
  })
}

const every20ms = [0, 20_000_000] as const
const expired: Timer = { ticks: 1, value: [0, 0], interval: every20ms }
const others: Timer[] = [
  { ticks: 0, value: [0, 12_345], interval: every20ms },
  { ticks: 1, value: [0, 0], interval: [0, 0] },
  { ticks: 0, value: [0, 0], interval: every20ms },
]

test('a periodic timer that expired and was not read is due at once', () => {
  const files = rearmTimers(filesWith([...others, expired]))
  expect(files).not.toBeNull()
  const [running, single, off, rearmed] = valuesOf(files ?? Buffer.alloc(0))
  expect(rearmed).toEqual([1, 0, 1, 0, 20_000_000])
  expect([running, single, off]).toEqual(valuesOf(filesWith(others)))
})

test('any other timer is left as it is', () => {
  expect(rearmTimers(filesWith(others))).toBeNull()
})
