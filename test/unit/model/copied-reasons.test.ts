import { expect, test } from 'vitest'
import { copiedReasons } from '../../../src/model/copied-reasons.ts'
import type { ProcessMemory } from '../../../src/model/snapshot.ts'

const mib = 2 ** 20

function process(command: string, rest: Partial<ProcessMemory>): ProcessMemory {
  const bytes = { sharedBytes: 0, copiedBytes: 0 }
  return { pid: 1, command, shared: false, ...bytes, why: 'of all of it', ...rest }
}

test('the same reason of processes of the same name is given once, the most first', () => {
  const child = process('chromium', {
    copied: [
      { what: 'mapping', bytes: 5 * mib, why: 'chromium: imports madvise' },
      { what: 'heap', bytes: 2 * mib, why: 'chromium: imports madvise' },
      { what: 'stack', bytes: mib / 4, why: 'grows by itself' },
    ],
  })
  const other = process('redis', { copied: [{ what: 'heap', bytes: 40 * mib, why: 'redis: x' }] })
  expect(copiedReasons({ processes: [child, other, child] })).toEqual([
    { command: 'redis', why: 'redis: x', bytes: 40 * mib },
    { command: 'chromium', why: 'chromium: imports madvise', bytes: 14 * mib },
  ])
})

test('a snapshot of an earlier version says it of whole processes', () => {
  const copied = process('redis', { copiedBytes: 3 * mib })
  const shared = process('python', { shared: true, copiedBytes: 2 * mib })
  expect(copiedReasons({ processes: [copied, shared] })).toEqual([
    { command: 'redis', why: 'of all of it', bytes: 3 * mib },
  ])
})
