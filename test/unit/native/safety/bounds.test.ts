import { readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { Budget, NothingLeft, TooSlow } from '../../../../src/criu/safety/budget.ts'
import { FileSystems } from '../../../../src/criu/safety/file-systems.ts'
import { VerdictCache, verdictKey } from '../../../../src/criu/safety/verdict-cache.ts'
import { TemporaryDirectory } from '../../../support/temporary-directory.ts'
import { judgeBytes } from './read-host-file.ts'

const keys = Array.from({ length: 200 }, (_, i) => `v2-${i.toString(16).padStart(32, '0')}`)
const verdict = { safe: true, why: 'for the test' }

test('a device that never answers costs no more than the time budget', async () => {
  using budget = new Budget({ bytes: 100, ms: 20 })
  const read = budget.meter(() => new Promise(() => {}))
  await expect(budget.wait(read({ offset: 0, length: 10 }))).rejects.toThrow(TooSlow)
  await expect(read({ offset: 0, length: 10 })).rejects.toThrow(TooSlow)
})

test('no more bytes are read than the budget allows', async () => {
  using budget = new Budget({ bytes: 100, ms: 60_000 })
  const read = budget.meter(async ({ length }) => Buffer.alloc(length))
  await read({ offset: 0, length: 60 })
  await expect(read({ offset: 0, length: 60 })).rejects.toThrow(NothingLeft)
  await read({ offset: 0, length: 40 })
})

test('only files of local file systems are read', () => {
  const fileSystems = new FileSystems()
  const deviceOf = (path: string) => {
    const dev = statSync(path).dev
    const [major, minor] = [(dev >> 8) & 0xfff, (dev & 0xff) | ((dev >> 12) & 0xfff00)]
    return [major, minor].map((part) => part.toString(16).padStart(2, '0')).join(':')
  }
  expect(fileSystems.isLocal(deviceOf('/usr/bin/env'), process.pid)).toBe(true)
  expect(fileSystems.isLocal(deviceOf('/proc'), process.pid)).toBe(false)
  expect(fileSystems.isLocal('ff:ff', process.pid)).toBe(false)
})

test('the cache keeps only a limited number of the newest verdicts', () => {
  using directory = new TemporaryDirectory()
  for (const [i, key] of keys.entries()) {
    new VerdictCache(directory.path, { entries: 64 }).set(key, verdict)
    utimesSync(directory.file(key), i + 2e9, i + 2e9)
  }
  expect(readdirSync(directory.path).length).toBeLessThanOrEqual(64)
  expect(readdirSync(directory.path)).toContain(keys.at(-1))
  const one = new VerdictCache(directory.path, { entries: 64 })
  for (const key of keys) one.set(key, verdict)
  expect(readdirSync(directory.path).length).toBeLessThanOrEqual(64)
})

test('old verdicts and drafts, also under older rules, are removed; other files stay', () => {
  using directory = new TemporaryDirectory()
  const old = [`v1-${'0'.repeat(32)}`, `v2-${'1'.repeat(32)}`, `v2-${'2'.repeat(32)}.4711`]
  for (const name of [...old, 'README']) {
    writeFileSync(directory.file(name), 'safe once\n')
    utimesSync(directory.file(name), 1e9, 1e9)
  }
  new VerdictCache(directory.path).set(keys[0] ?? '', verdict)
  expect(readdirSync(directory.path).sort()).toEqual(['README', keys[0]])
})

test('a verdict is valid until it expires; an undecided one expires soon', () => {
  using directory = new TemporaryDirectory()
  const [safe = '', undecided = '', past = ''] = keys
  const cache = new VerdictCache(directory.path)
  cache.set(safe, verdict)
  cache.set(undecided, { safe: false, why: 'took too long', isForNow: true })
  const untilOf = (key: string) => Number(readFileSync(directory.file(key), 'utf8').split(' ')[0])
  expect(untilOf(safe) - untilOf(undecided)).toBeGreaterThan(24 * 60 * 60 * 1000)
  const next = new VerdictCache(directory.path)
  expect(next.get(safe)).toEqual(verdict)
  expect(next.get(undecided)).toMatchObject({ safe: false, isForNow: true })
  writeFileSync(directory.file(past), `${Date.now() - 1} safe once\n`)
  expect(next.get(past)).toBe(null)
})

test('no two files have the same key, nor do two names of one file', () => {
  using directory = new TemporaryDirectory()
  writeFileSync(directory.file('a'), 'one')
  writeFileSync(directory.file('b'), 'two')
  for (const name of ['a', 'b']) utimesSync(directory.file(name), 1e9, 1e9)
  const stats = (name: string) => statSync(directory.file(name), { bigint: true })
  const key = verdictKey('lib.so', stats('a'))
  expect(verdictKey('lib.so', stats('b'))).not.toBe(key)
  expect(verdictKey('lib.so.1', stats('a'))).not.toBe(key)
  for (const field of ['dev', 'ino', 'size', 'mtimeNs', 'ctimeNs', 'birthtimeNs'] as const) {
    const other = Object.assign(stats('a'), { [field]: 2n ** 20n })
    expect(verdictKey('lib.so', other), field).not.toBe(key)
  }
})

test('an overlay has another device each time, but its files have the same key', () => {
  using directory = new TemporaryDirectory()
  writeFileSync(directory.file('a'), 'one')
  const stats = (dev: bigint) =>
    verdictKey('a', Object.assign(statSync(directory.file('a'), { bigint: true }), { dev }))
  expect(stats(0x2bn)).toBe(stats(0x2cn))
})

test('overlapping segments and endless tables are refused', async () => {
  const header = (segments: number, size: number) => {
    const bytes = Buffer.alloc(size)
    bytes.writeUInt32BE(0x7f454c46)
    bytes.set([2, 1, 1], 4)
    bytes.writeUInt16LE(3, 16)
    bytes.writeUInt16LE(62, 18)
    bytes.writeBigUInt64LE(64n, 32)
    bytes.writeUInt16LE(56, 54)
    bytes.writeUInt16LE(segments, 56)
    return bytes
  }
  const overlapping = header(1000, 64 * 1024)
  for (let at = 64; at < 64 + 56_000; at += 56) {
    overlapping.writeUInt32LE(1, at)
    overlapping.writeUInt32LE(4, at + 4)
    overlapping.writeBigUInt64LE(60_000n, at + 32)
  }
  expect((await judgeBytes('lib', overlapping)).why).toBe('maps the same parts again and again')
  expect((await judgeBytes('lib', header(0xffff, 4096))).why).toMatch(/strange program header/)
  const sections = header(1, 4096)
  sections.writeBigUInt64LE(64n, 40)
  sections.writeUInt16LE(64, 58)
  sections.writeUInt16LE(0xffff, 60)
  expect((await judgeBytes('lib', sections)).why).toMatch(/strange section header/)
})
