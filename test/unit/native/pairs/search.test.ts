// Where processes remember which file is which, found in their pages by `cell pairs`.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { nativeProgram } from '../../../../src/linux/native-program.ts'

const device = 0x1000dan
/** of a lower file, with the number of its file system */
const inode = 0x4000000000012345n
const pieceWords = 1 << 17

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'pairs-'))
})
afterAll(() => rmSync(directory, { recursive: true }))

function pagesWith(name: string, words: Record<number, bigint>, count = 2 * pieceWords): string {
  const bytes = Buffer.alloc(count * 8)
  for (const [at, word] of Object.entries(words)) bytes.writeBigUInt64LE(word, Number(at) * 8)
  const path = join(directory, name)
  writeFileSync(path, bytes)
  return path
}

interface Run {
  readonly pid: number
  readonly start: number
  readonly words: number
  readonly path: string
}

function pairsIn(runs: readonly Run[], ...mode: 'lone'[]): string[] {
  const input = runs.map(({ pid, start, words, path }) =>
    [pid, start, start + words * 8, 0, path].join(' '),
  )
  const args = ['pairs', String(device), '/nowhere', ...mode]
  const found = execFileSync(nativeProgram('cell'), args, { input: `${input.join('\n')}\n` })
  return found.toString().split('\n').filter(Boolean)
}

test('a device number counts on either side of an inode number, and in statx', () => {
  const path = pagesWith('shapes', {
    10: device,
    11: inode,
    20: inode,
    21: device,
    30: device,
    // One link, a regular file; its times are zero.
    48: 1n,
    49: 0x81a4n << 32n,
    50: inode,
    63: 0x1dan << 32n,
    80: 0x1dan << 32n,
    // At the right distance, but nothing around it is a file.
    100: inode,
    113: 0x1dan << 32n,
  })
  expect(pairsIn([{ pid: 7, start: 0x10000, words: 1024, path }])).toEqual([
    `7 ${0x10000 + 80} plain`,
    `7 ${0x10000 + 168} plain`,
    `7 ${0x10000 + 504} statx`,
  ])
})

test('a pair across two pieces, or two files, of neighbouring addresses is found', () => {
  const whole = pagesWith('whole', { [pieceWords - 1]: device, [pieceWords]: inode })
  expect(pairsIn([{ pid: 7, start: 0, words: 2 * pieceWords, path: whole }])).toEqual([
    `7 ${(pieceWords - 1) * 8} plain`,
  ])
  const first = pagesWith('first', { 511: device }, 512)
  const second = pagesWith('second', { 0: inode }, 512)
  const runs = [
    { pid: 7, start: 4096, words: 512, path: first },
    { pid: 7, start: 8192, words: 512, path: second },
  ]
  expect(pairsIn(runs)).toEqual([`7 ${4096 + 511 * 8} plain`])
})

test('neither a gap nor another process lies between the two numbers of a pair', () => {
  const first = pagesWith('first', { 511: device }, 512)
  const second = pagesWith('second', { 0: inode }, 512)
  const apart = (pid: number, start: number) => [
    { pid: 7, start: 4096, words: 512, path: first },
    { pid, start, words: 512, path: second },
  ]
  expect(pairsIn(apart(7, 12_288))).toEqual([])
  expect(pairsIn(apart(8, 8192))).toEqual([])
})

test('numbers that are no inode of the environment do not count', () => {
  const path = pagesWith('others', {
    10: device,
    11: 0x4000000000000000n, // 2.0
    20: device,
    21: 0x7ffff7dd1000n, // an address
    30: device,
    31: 255n,
    40: device,
    41: 0x0100000000000005n, // a flag in the highest byte
    // Half a word further, which stat(2) would never write.
    50: device << 32n,
    51: inode,
    // Numbers at equal distances.
    60: BigInt.asUintN(64, 2n * device - inode),
    61: device,
    62: inode,
  })
  expect(pairsIn([{ pid: 7, start: 0, words: 1024, path }])).toEqual([])
})

test('a device number that looks like a flag does not count beside small numbers', () => {
  const path = pagesWith('flags', { 10: 0x100000n, 11: 512n })
  const args = ['pairs', String(0x100000), '/nowhere']
  const input = `7 0 8192 0 ${path}\n`
  expect(execFileSync(nativeProgram('cell'), args, { input }).toString()).toBe('')
})

test('a device number beside which there is nothing is shown only if that is asked for', () => {
  const path = pagesWith('lone', { 10: device, 20: device, 21: inode, 30: 0x1dan << 32n })
  const runs = [{ pid: 7, start: 0, words: 1024, path }]
  expect(pairsIn(runs)).toEqual(['7 160 plain'])
  expect(pairsIn(runs, 'lone')).toEqual(['7 80 lone', '7 160 plain'])
})
