import {
  closeSync,
  linkSync,
  openSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { beforeAll, expect, test } from 'vitest'
import { judgeEnvironment } from '../../../../src/criu/safety/judge-environment.ts'
import { surveyPrograms } from '../../../../src/criu/safety/survey.ts'
import { VerdictCache } from '../../../../src/criu/safety/verdict-cache.ts'
import { bytesRead, mapper, sparseLibrary } from '../../../support/hostile-programs.ts'
import { compileC } from '../../../support/real-programs.ts'
import { TemporaryDirectory } from '../../../support/temporary-directory.ts'
import { Waiting } from './waiting.ts'

const mib = 2 ** 20

const programs = new TemporaryDirectory()
const program = programs.file('mapper')

beforeAll(() => {
  compileC(mapper, program)
  return () => programs[Symbol.dispose]()
})

async function mapping(paths: readonly string[]): Promise<Waiting> {
  return await Waiting.start(program, [...paths])
}

test('twenty sparse libraries of 1,000 MiB are not read', async () => {
  using directory = new TemporaryDirectory()
  using cache = new TemporaryDirectory()
  const files = Array.from({ length: 20 }, (_, i) => directory.file(`libsodium.so.${i}`))
  for (const file of files) sparseLibrary(file, 1000 * mib)
  const hostile = await Promise.all(files.map((file) => mapping([file])))
  const pids = hostile.map(({ pid }) => pid)
  const before = bytesRead()
  const survey = await surveyPrograms(pids, { cache: new VerdictCache(cache.path) })
  const verdicts = judgeEnvironment(pids, survey)
  expect(bytesRead() - before).toBeLessThan(100 * mib)
  expect(verdicts.every(({ share }) => !share)).toBe(true)
  expect(new Set(verdicts.map(({ why }) => why.replace(/.*: /, '')))).toEqual(
    new Set(['too large to judge']),
  )
  for (const process of hostile) await process[Symbol.asyncDispose]()
})

test('many that are just small enough cost one budget, and nothing during the freeze', async () => {
  using directory = new TemporaryDirectory()
  using cache = new TemporaryDirectory()
  const files = Array.from({ length: 8 }, (_, i) => directory.file(`libsodium.so.${i}`))
  for (const file of files) sparseLibrary(file, 30 * mib)
  const hostile = await Promise.all(files.map((file) => mapping([file])))
  const pids = hostile.map(({ pid }) => pid)
  const limits = { bytes: 64 * mib, ms: 600_000 }
  const before = bytesRead()
  const survey = await surveyPrograms(pids, { cache: new VerdictCache(cache.path), limits })
  const surveyed = bytesRead()
  expect(surveyed - before).toBeLessThan(limits.bytes + 8 * mib)
  const verdicts = judgeEnvironment(pids, survey)
  expect(bytesRead() - surveyed).toBeLessThan(mib)
  expect(verdicts.some(({ why }) => why.endsWith('not judged in time'))).toBe(true)
  for (const process of hostile) await process[Symbol.asyncDispose]()
})

test('a budget that has run out decides nothing', async () => {
  using cache = new TemporaryDirectory()
  await using process = await mapping([])
  const limits = { bytes: 600 * mib, ms: 0 }
  const survey = await surveyPrograms([process.pid], {
    cache: new VerdictCache(cache.path),
    limits,
  })
  expect(survey.size).toBe(0)
  expect(judgeEnvironment([process.pid], survey)).toMatchObject([
    { share: false, why: expect.stringMatching(/: not judged in time$/) },
  ])
})

test('processes that cannot be judged in time during the freeze are copied', async () => {
  using cache = new TemporaryDirectory()
  await using process = await mapping([])
  const survey = await surveyPrograms([process.pid], { cache: new VerdictCache(cache.path) })
  expect(judgeEnvironment([process.pid], survey)).toMatchObject([{ share: true }])
  expect(judgeEnvironment([process.pid], survey, { longestMs: -1 })).toMatchObject([
    { pid: process.pid, share: false, why: 'not judged in time' },
  ])
})

test('a process that maps thousands of files is copied', async () => {
  using directory = new TemporaryDirectory()
  using cache = new TemporaryDirectory()
  sparseLibrary(directory.file('0'), 4096)
  const files = Array.from({ length: 2100 }, (_, i) => directory.file(String(i)))
  for (const file of files.slice(1)) linkSync(directory.file('0'), file)
  await using process = await mapping(files)
  const survey = await surveyPrograms([process.pid], { cache: new VerdictCache(cache.path) })
  expect(judgeEnvironment([process.pid], survey)).toMatchObject([
    { share: false, why: 'maps too many files' },
  ])
})

test('a mapped device is not opened, and the process is copied', async () => {
  using cache = new TemporaryDirectory()
  await using process = await mapping(['/dev/zero'])
  const survey = await surveyPrograms([process.pid], { cache: new VerdictCache(cache.path) })
  expect(judgeEnvironment([process.pid], survey)).toMatchObject([
    { share: false, why: 'zero: not judged in time' },
  ])
})

test('a verdict does not apply to other content of the file, whatever its times are set to', async () => {
  using directory = new TemporaryDirectory()
  using cache = new TemporaryDirectory()
  const library = directory.file('library.so')
  compileC('int answer(){return 42;}', library, '-shared')
  await using process = await mapping([library])
  const judge = () => surveyPrograms([process.pid], { cache: new VerdictCache(cache.path) })
  const before = statSync(library, { bigint: true })
  const survey = await judge()
  expect(judgeEnvironment([process.pid], survey)).toMatchObject([{ share: true }])

  const file = openSync(library, 'r+')
  writeSync(file, 'not an ELF', 0)
  closeSync(file)
  const seconds = (ns: bigint) => Number(ns) / 1e9
  utimesSync(library, seconds(before.atimeNs), seconds(before.mtimeNs))
  expect(statSync(library, { bigint: true })).toMatchObject({ ino: before.ino, size: before.size })

  expect(judgeEnvironment([process.pid], survey)).toMatchObject([
    { share: false, why: 'library.so: has just changed' },
  ])
  expect(judgeEnvironment([process.pid], await judge())).toMatchObject([
    { share: false, why: 'library.so: not an ELF file' },
  ])
})

test('a file that was just written is judged only when a later write would be noticed', async () => {
  using directory = new TemporaryDirectory()
  using cache = new TemporaryDirectory()
  const library = directory.file('library.so')
  compileC('int answer(){return 42;}', library, '-shared')
  await using process = await mapping([library])
  writeFileSync(library, readFileSync(library))
  const survey = await surveyPrograms([process.pid], { cache: new VerdictCache(cache.path) })
  const { ctimeMs } = statSync(library)
  expect(Date.now()).toBeGreaterThanOrEqual(Math.floor(ctimeMs) + 20)
  expect(judgeEnvironment([process.pid], survey)).toMatchObject([{ share: true }])
})
