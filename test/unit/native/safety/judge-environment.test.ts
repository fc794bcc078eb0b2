import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { judgeEnvironment } from '../../../../src/criu/safety/judge-environment.ts'
import type { ProcessVerdict } from '../../../../src/criu/safety/judge-process.ts'
import { type SurveyOptions, surveyPrograms } from '../../../../src/criu/safety/survey.ts'
import { VerdictCache } from '../../../../src/criu/safety/verdict-cache.ts'
import { compileC, libraryPath, programPath } from '../../../support/real-programs.ts'
import { TemporaryDirectory } from '../../../support/temporary-directory.ts'
import { Waiting } from './waiting.ts'

const bash = () => Waiting.start(programPath('bash'), ['-c', 'echo ready; read'])
const python = (code = '', variables = {}) =>
  Waiting.start(
    programPath('python3'),
    ['-c', `${code}\nprint("ready", flush=True); input()`],
    variables,
  )
const node = () =>
  Waiting.start(programPath('node'), ['-e', 'console.log("ready");process.stdin.resume()'])

/** As it is done before and during the freeze. */
async function judgeAll(pids: number[], options: SurveyOptions): Promise<ProcessVerdict[]> {
  return judgeEnvironment(pids, await surveyPrograms(pids, options), options)
}

async function judge(process: Waiting, cache: TemporaryDirectory): Promise<ProcessVerdict> {
  const [verdict] = await judgeAll([process.pid], { cache: new VerdictCache(cache.path) })
  if (!verdict) throw new Error('no verdict')
  return verdict
}

test('a shell, a Python and a node share their memory', async () => {
  using cache = new TemporaryDirectory()
  await using shell = await bash()
  await using interpreter = await python('import ssl, sqlite3, json')
  await using server = await node()
  const pids = [shell.pid, interpreter.pid, server.pid]
  const verdicts = await judgeAll(pids, { cache: new VerdictCache(cache.path) })
  const why = 'none of its files counts on zeros'
  expect(verdicts).toEqual([
    { pid: shell.pid, command: 'bash', share: true, why, reached: [] },
    {
      pid: interpreter.pid,
      command: expect.stringMatching(/^python3/),
      share: true,
      why,
      reached: [],
    },
    {
      pid: server.pid,
      command: 'node',
      share: true,
      why: `${why} in the rest`,
      reached: [{ reach: 'cpp-heap', why: 'node: Node.js' }],
    },
  ])
})

test('a preloaded allocator counts, and so does a module that is loaded later', async () => {
  using cache = new TemporaryDirectory()
  await using preloaded = await python('', { LD_PRELOAD: libraryPath('libjemalloc.so.2') })
  expect(await judge(preloaded, cache)).toMatchObject({
    share: false,
    why: 'libjemalloc.so.2: imports madvise',
  })
  await using mapping = await python('import mmap')
  const why = expect.stringMatching(/^mmap\..*: CPython's mmap$/)
  const partly = { share: true, reached: [{ reach: 'held', why }] }
  expect(await judge(mapping, cache)).toMatchObject(partly)
  // The second time, the verdict is read from the cache.
  expect(await judge(mapping, cache)).toMatchObject(partly)
})

test('a deleted program is judged by what runs', async () => {
  using directory = new TemporaryDirectory()
  using cache = new TemporaryDirectory()
  const program = directory.file('program')
  copyFileSync(programPath('bash'), program)
  await using shell = await Waiting.start(program, ['-c', 'echo ready; read'])
  writeFileSync(directory.file('other'), 'nothing of interest')
  rmSync(program)
  expect(await judge(shell, cache)).toMatchObject({ command: 'program', share: true })
})

test('code in a file in memory is not trusted, unless it is ours', async () => {
  using directory = new TemporaryDirectory()
  using cache = new TemporaryDirectory()
  const program = directory.file('program')
  compileC(
    `#define _GNU_SOURCE
    #include <sys/mman.h>
    #include <unistd.h>
    int main() {
      int file = memfd_create("generated", 0);
      ftruncate(file, 4096);
      mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
      write(1, "ready", 5);
      return read(0, &file, 1);
    }`,
    program,
  )
  await using process = await Waiting.start(program, [])
  expect(await judge(process, cache)).toMatchObject({
    share: false,
    why: 'memfd:generated: a file in memory',
  })
  const isOwn = (path: string) => path.includes('generated')
  const options = { cache: new VerdictCache(cache.path), isOwn }
  expect(await judgeAll([process.pid], options)).toMatchObject([{ share: true }])
})

test('a process that has ended shares nothing', async () => {
  using cache = new TemporaryDirectory()
  const shell = await bash()
  await shell[Symbol.asyncDispose]()
  expect(await judge(shell, cache)).toMatchObject({ share: false, why: 'runs no file' })
})

test('a verdict is kept in a small file, and used the next time', async () => {
  using cache = new TemporaryDirectory()
  using moved = new TemporaryDirectory()
  await using shell = await bash()
  expect(await judge(shell, cache)).toMatchObject({ share: true })
  const kept = readdirSync(cache.path)
  expect(kept.length).toBeGreaterThan(2)
  for (const name of kept) {
    expect(name).toMatch(/^v\d+-[0-9a-f]{32}$/)
    expect(readFileSync(cache.file(name), 'utf8')).toMatch(/^\d+ safe .+\n$/)
    writeFileSync(moved.file(name), `${Date.now() + 60_000} unsafe said the cache\n`)
  }
  expect(await judge(shell, moved)).toMatchObject({ why: expect.stringMatching(/said the cache$/) })
})

test('a damaged or read-only cache only costs time', async () => {
  using cache = new TemporaryDirectory()
  using damaged = new TemporaryDirectory()
  await using shell = await bash()
  await judge(shell, cache)
  for (const name of readdirSync(cache.path)) writeFileSync(damaged.file(name), 'sa')
  expect(await judge(shell, damaged)).toMatchObject({ share: true })
  writeFileSync(cache.file('file'), '')
  const options = { cache: new VerdictCache(cache.file('file/below')) }
  expect(await judgeAll([shell.pid], options)).toMatchObject([{ share: true }])
})
