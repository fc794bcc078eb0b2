import { copyFileSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Environment, ProcessMemory, Snapshot } from '../../src/index.ts'
import { compileC } from '../support/real-programs.ts'
import { TemporaryDirectory } from '../support/temporary-directory.ts'
import { TestHome } from '../support/test-home.ts'
import { run } from '../support/workloads/run.ts'

// Programs of which only a part can be shared: memory that they free reads as zeros in every branch, and
// the rest is mapped from the snapshot.

const mib = 2 ** 20

interface Program {
  readonly name: string
  readonly process: RegExp
  readonly start: (env: Environment) => Promise<void>
  /** how it answers these questions */
  readonly answers: Readonly<Record<string, string>>
  /** at least this much is mapped from the snapshot */
  readonly sharedBytes: number
  /** at least this much of it is still so when the program has checked its memory */
  readonly seenBytes: number
  /** what is copied because of the program, and how much of it */
  readonly copied: { readonly why: RegExp; readonly least: number; readonly most: number }
}

function source(name: string): Buffer {
  return readFileSync(new URL(`../support/workloads/areas/${name}`, import.meta.url))
}

async function started(env: Environment, name: string, content: Buffer, line: string) {
  await env.files.write(`/root/${name}`, content)
  await run(env, `chmod +x /root/${name}; ${line} > /root/log 2>&1 &`)
  expect(await ask(env, 'check')).toBe('whole')
}

const zeros = { check: 'whole', discard: 'zeros', grow: 'zeros' }

const python: Program = {
  name: 'a Python that imports mmap',
  process: /python/,
  start: (env) =>
    started(env, 'program.py', source('mmap-program.py'), '/usr/bin/python3 /root/program.py'),
  answers: zeros,
  sharedBytes: 90 * mib,
  // Looking at an object counts a reference, which is a write.
  seenBytes: 64 * mib,
  copied: { why: /^mmap\.cpython.*: CPython's mmap$/, least: 24 * mib, most: 44 * mib },
}

const numa: Program = {
  name: 'a program with libnuma',
  process: /program/,
  start: async (env) => {
    using directory = new TemporaryDirectory()
    const path = directory.file('program')
    compileC(source('numa-program.c').toString(), path, '-ldl')
    await started(env, 'program', readFileSync(path), '/root/program')
  },
  answers: zeros,
  sharedBytes: 36 * mib,
  seenBytes: 36 * mib,
  copied: { why: /^libnuma.*: libnuma$/, least: 16 * mib, most: 36 * mib },
}

const nodeFlags = '--expose-gc --max-semi-space-size=8'

const node: Program = {
  name: 'node',
  process: /node/,
  start: (env) =>
    started(
      env,
      'program.cjs',
      source('node-program.cjs'),
      `/usr/bin/node ${nodeFlags} /root/program.cjs`,
    ),
  answers: { check: 'whole', discard: 'whole' },
  sharedBytes: 60 * mib,
  seenBytes: 40 * mib,
  copied: { why: /^node: Node.js$/, least: 0, most: 8 * mib },
}

const newestNode: Program = {
  ...node,
  name: 'the newest node',
  process: /MainThread/,
  start: async (env) => {
    using directory = new TemporaryDirectory()
    copyFileSync(process.execPath, directory.file('node'))
    await env.files.upload(directory.path, '/root/newest')
    await started(
      env,
      'program.cjs',
      source('node-program.cjs'),
      `/root/newest/node ${nodeFlags} /root/program.cjs`,
    )
  },
  // It has C++ objects on V8's heap.
  copied: { ...node.copied, least: mib / 2 },
}

const programs = [python, numa, node, newestNode].map((program) => ({ ...program, live: false }))
/** Those whose first snapshot is copied while they run. */
const copiedLive = [python, node].map((program) => {
  return { ...program, name: `${program.name}, copied live`, live: true }
})

async function ask(env: Environment, question: string): Promise<string> {
  const wait = 'until [ -e answer ]; do sleep 0.02; done'
  return await run(env, `cd /root; echo ${question} > q; mv q ask; ${wait}; cat answer; rm answer`)
}

let home: TestHome

beforeAll(() => {
  home = new TestHome('shared-areas')
})

afterAll(() => home[Symbol.asyncDispose](), 120_000)

function memoryOf(snapshot: Snapshot, { process }: Program): ProcessMemory {
  const found = snapshot.lastInfo.memory?.processes.find(({ command }) => process.test(command))
  if (!found) throw new Error('the program is not in the snapshot')
  return found
}

function expectShared(snapshot: Snapshot, program: Program): void {
  const { sharedBytes, copiedBytes, copied = [] } = memoryOf(snapshot, program)
  expect(sharedBytes).toBeGreaterThan(program.sharedBytes)
  // Less is not explained.
  const explainedBytes = copiedBytes < mib ? 0 : copiedBytes
  expect(copied.reduce((sum, { bytes }) => sum + bytes, 0)).toBe(explainedBytes)
  const ours = copied.filter(({ why }) => program.copied.why.test(why))
  const bytes = ours.reduce((sum, one) => sum + one.bytes, 0)
  expect(bytes).toBeGreaterThanOrEqual(program.copied.least)
  expect(bytes).toBeLessThanOrEqual(program.copied.most)
}

async function expectAnswers(branches: readonly Environment[], { answers }: Program) {
  for (const env of branches) {
    for (const [question, answer] of Object.entries(answers)) {
      expect(await ask(env, question), question).toBe(answer)
    }
    expect(await ask(env, 'check')).toBe('whole')
  }
}

describe.each([...programs, ...copiedLive])('$name', (program) => {
  let original: Environment
  let first: Snapshot

  test('shares all but what it may free, and what it frees is zero in every branch', {
    timeout: 120_000,
  }, async () => {
    const fp = await home.open()
    original = await fp.create()
    await program.start(original)
    first = await original.snapshot({ live: program.live })
    expect(first.lastInfo.memory?.tracking?.mode).toBe(program.live ? 'live' : 'full')
    expectShared(first, program)
    const forks = await first.fork(2)
    for (const fork of forks) {
      // Only what a process has looked at counts.
      expect(await ask(fork, 'check')).toBe('whole')
      const { memory } = await fork.stats()
      expect(memory.sharedBytes).toBeGreaterThan(program.seenBytes)
    }
    await expectAnswers([original, ...forks], program)
  })

  test('the same goes for the next snapshot, and for one of a fork', {
    timeout: 120_000,
  }, async () => {
    const second = await original.snapshot()
    expectShared(second, program)
    const [fork] = await second.fork(1)
    if (!fork) throw new Error('no fork')
    const third = await fork.snapshot()
    expectShared(third, program)
    await third.compact()
    const last = await third.fork(1)
    await expectAnswers([fork, ...last, original], program)
  })
})

test('an object on a page that a fork has not touched still protects what it holds', {
  timeout: 120_000,
}, async () => {
  const fp = await home.open()
  const env = await fp.create()
  await python.start(env)
  const [fork] = await (await env.snapshot()).fork(1)
  if (!fork) throw new Error('no fork')
  await fork.snapshot()
  expect(await ask(fork, 'refill')).toBe('refilled')
  const snapshot = await fork.snapshot()
  expect(snapshot.lastInfo.memory?.tracking?.mode).toBe('written')
  expectShared(snapshot, python)
  const [again] = await snapshot.fork(1)
  if (!again) throw new Error('no fork')
  expect(await ask(again, 'untouched')).toBe('zeros')
})

test('children of a forked node still do not get its heap', { timeout: 120_000 }, async () => {
  const fp = await home.open()
  const env = await fp.create()
  await node.start(env)
  const [fork] = await (await env.snapshot()).fork(1)
  if (!fork) throw new Error('no fork')
  const flags = `awk '/^[0-9a-f]+-/ { file = $6 } /^VmFlags/ && file ~ /forkpoint/ && / dc/ { n++ } END { print n + 0 }'`
  const areas = await run(fork, `${flags} /proc/$(pgrep -f program.cjs)/smaps`)
  expect(Number(areas)).toBeGreaterThan(50)
})

test.each([python, numa])(
  '$name sees stale bytes if all its memory is shared',
  { timeout: 120_000 },
  async (program) => {
    await using forced = new TestHome('forced')
    const fp = await forced.open({ memory: 'share' })
    const env = await fp.create()
    await program.start(env)
    const [fork] = await (await env.snapshot()).fork(1)
    if (!fork) throw new Error('no fork')
    expect(await ask(fork, 'discard')).toMatch(/^stale/)
  },
)
