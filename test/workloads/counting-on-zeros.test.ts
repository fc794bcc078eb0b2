import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { compileC, libraryPath, programPath } from '../support/real-programs.ts'
import { TemporaryDirectory } from '../support/temporary-directory.ts'
import { buildGo, buildJava, sourcePath } from '../support/workloads/self-checking/programs.ts'

// Every program on the list of known programs works in memory that reads as old bytes
// wherever the kernel would have returned zeros, which is the worst that sharing can do to it.

/** Enough for a JVM to start at the same time as the others on two cores. */
const seconds = 10

let directory: TemporaryDirectory

beforeAll(() => {
  directory = new TemporaryDirectory()
  const source = (name: string) => readFileSync(sourcePath(name), 'utf8')
  compileC(source('stale-memory.c'), directory.file('stale-memory'))
  compileC(source('dontneed.c'), directory.file('dontneed'))
  compileC(source('calloc.c'), directory.file('calloc'))
  buildGo(directory.file('go-program'))
  buildJava(directory.path)
})

afterAll(() => directory[Symbol.dispose]())

interface Outcome {
  readonly report: string
  /** pages that read as old bytes */
  readonly stale: number
}

let runs = 0

async function runInStaleMemory(words: readonly string[], variables = {}): Promise<Outcome> {
  runs += 1
  const report = directory.file(`report-${runs}`)
  const line = ['timeout', '-s', 'KILL', String(seconds), ...words, report]
  const child = spawn(directory.file('stale-memory'), line, {
    env: { ...process.env, NODE_OPTIONS: '', ...variables },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let output = ''
  child.stderr.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  const [code] = (await once(child, 'close')) as [number | null]
  const [, discarded, added] = /(\d+) pages freed, (\d+) added/.exec(output) ?? []
  const stale = Number(discarded) + Number(added)
  // An allocator whose own tables are in that memory may not live long enough to report.
  if (!existsSync(report) && code !== 0 && stale > 0) return { report: 'broken', stale }
  return { report: readFileSync(report, 'utf8'), stale }
}

const counting = {
  'a program that says so': () => runInStaleMemory([directory.file('dontneed')]),
  jemalloc: () =>
    runInStaleMemory([directory.file('calloc')], {
      LD_PRELOAD: libraryPath('libjemalloc.so.2'),
      MALLOC_CONF: 'dirty_decay_ms:0,muzzy_decay_ms:0',
    }),
}

test.concurrent.each(Object.entries(counting))('%s counts on zeros', async (_, run) => {
  const { report } = await run()
  expect(report).toMatch(/^(stale|broken)/)
})

const notCounting = {
  'the C library': () => runInStaleMemory([directory.file('calloc')]),
  'a Go program': () => runInStaleMemory([directory.file('go-program')]),
  node: () =>
    runInStaleMemory([programPath('node'), '--expose-gc', sourcePath('node-program.cjs')]),
  'the newest node': () =>
    runInStaleMemory([process.execPath, '--expose-gc', sourcePath('node-program.cjs')]),
  'a JVM': () =>
    runInStaleMemory([programPath('java'), '-Xmx96m', '-cp', directory.path, 'JavaProgram']),
}

test.concurrent.each(Object.entries(notCounting))('%s does not', async (_, run) => {
  const { report, stale } = await run()
  expect(report).toMatch(/^rounds [1-9]/)
  expect(stale).toBeGreaterThan(0)
})
