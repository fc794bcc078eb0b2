import { expect, test } from 'vitest'
import { accountMemory } from '../../../../src/backends/native/stats/account.ts'

const kib = 1024

function rollup(anon: number, shmem: number, swap: number): string {
  return [
    '55d0c0a00000-7ffd1b3f2000 ---p 00000000 00:00 0                          [rollup]',
    `Rss:            9999 kB`,
    `Pss_Anon:       ${anon} kB`,
    `Pss_File:       5000 kB`,
    `Pss_Shmem:      ${shmem} kB`,
    `SwapPss:        ${swap} kB`,
    '',
  ].join('\n')
}

function area(path: string, rss: number, anonymous: number): string {
  return [
    `7f0000000000-7f0000100000 rw-p 00001000 fe:00 12345      ${path}`,
    `Size:           1024 kB`,
    `Rss:             ${rss} kB`,
    `Anonymous:       ${anonymous} kB`,
    'VmFlags: rd wr mr mw me ac sd',
    '',
  ].join('\n')
}

test('written pages are private, and unwritten ones of pages files are shared', () => {
  const smaps =
    area('/.forkpoint/pages/s1-1', 500, 100) +
    area('/.forkpoint/pages/s1-1', 200, 0) +
    area('/usr/lib/libc.so.6', 900, 0) +
    area('', 300, 300)
  expect(accountMemory([{ rollup: rollup(400, 7, 3), smaps }])).toEqual({
    privateBytes: 410 * kib,
    sharedBytes: 600 * kib,
    totalBytes: 1010 * kib,
  })
})

test('a pages file that parent and child map counts once', () => {
  const parent = { rollup: rollup(10, 0, 0), smaps: area('/.forkpoint/pages/s1-1', 500, 0) }
  const child = {
    rollup: rollup(20, 0, 0),
    smaps: area('/.forkpoint/pages/s1-1', 400, 0) + area('/.forkpoint/pages/s1-2', 50, 0),
  }
  expect(accountMemory([parent, child])).toMatchObject({
    privateBytes: 30 * kib,
    sharedBytes: 550 * kib,
  })
})

test('a process that has ended counts as nothing', () => {
  expect(accountMemory([{ rollup: '', smaps: '' }])).toEqual({
    privateBytes: 0,
    sharedBytes: 0,
    totalBytes: 0,
  })
})
