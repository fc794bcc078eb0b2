// Forks map the memory of their snapshot until they write. What they read must never differ from what
// a copy would have been: not after changes here or there, not over a chain of snapshots, not when
// mappings grow, not in children.
import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import { placesOf } from '../../src/backends/native/places.ts'
import type { Environment, Snapshot } from '../../src/index.ts'
import { TestHome } from '../support/test-home.ts'
import { dialogue } from '../support/workloads/dialogue.ts'
import { bring, run, runAs } from '../support/workloads/run.ts'

const mib = 2 ** 20
const holder = (blocks: number) =>
  dialogue('holder', `python3 /root/memory-holder.py ${blocks}`, (mark) => `say ${mark}`)

async function startHolder(env: Environment, blocks: number): Promise<ReturnType<typeof holder>> {
  const program = holder(blocks)
  await bring(env, 'memory-holder.py')
  await program.start(env)
  expect(await program.ask(env, 'say ready')).toBe('ready')
  return program
}

function processOf(snapshot: Snapshot, command: string) {
  const found = snapshot.lastInfo.memory?.processes.find((process) => process.command === command)
  if (!found) throw new Error(`no ${command} in ${JSON.stringify(snapshot.lastInfo.memory)}`)
  return found
}

test('five forks of 300 MB change different parts, and each sees only its own changes', async () => {
  await using home = new TestHome('shared')
  const fp = await home.open()
  const env = await fp.create()
  const program = await startHolder(env, 300)
  const seeds = [1, 2, 3, 4, 5]
  const original = await program.ask(env, 'digest')
  const expected = new Map<number, string>()
  for (const seed of seeds) expected.set(seed, await program.ask(env, `expected ${seed}`))
  expect(new Set([original, ...expected.values()]).size).toBe(6)

  const base = await env.snapshot()
  expect(processOf(base, 'python3')).toMatchObject({ shared: true })
  expect(processOf(base, 'python3').sharedBytes).toBeGreaterThan(300 * mib)
  expect(base.lastInfo.sizes.imagesBytes).toBeGreaterThan(300 * mib)
  const forks = await base.fork(5)
  await Promise.all(forks.map((fork, at) => program.ask(fork, `change ${seeds[at]}`)))
  for (const [at, fork] of forks.entries()) {
    expect(await program.ask(fork, 'digest')).toBe(expected.get(seeds[at] ?? 0))
    expect(await program.ask(fork, 'shred')).toBe('zero')
  }
  expect(await program.ask(env, 'digest')).toBe(original)
  expect(await program.ask(env, 'child 3')).toBe(`${expected.get(3)} ${original}`)
  const before = Number(await program.ask(env, 'ticks'))
  await expect.poll(async () => Number(await program.ask(env, 'ticks'))).toBeGreaterThan(before)
})

test('each snapshot of a chain writes what changed, and holds everything', async () => {
  await using home = new TestHome('shared')
  const fp = await home.open()
  const env = await fp.create()
  const program = await startHolder(env, 200)
  const taken: { snapshot: Snapshot; digest: string }[] = []
  for (const seed of [0, 1, 2, 3]) {
    if (seed > 0) await program.ask(env, `change ${seed}`)
    const digest = await program.ask(env, 'digest')
    taken.push({ snapshot: await env.snapshot(), digest })
  }
  const [first = 0, ...later] = taken.map(({ snapshot }) => snapshot.lastInfo.sizes.imagesBytes)
  expect(first).toBeGreaterThan(200 * mib)
  for (const bytes of later) expect(bytes).toBeLessThan(10 * mib)
  for (const { snapshot, digest } of taken.toReversed()) {
    await env.restore(snapshot)
    expect(await program.ask(env, 'digest')).toBe(digest)
  }
  // From the middle, on a separate branch.
  const [fork] = (await taken[1]?.snapshot.fork(1)) ?? []
  if (!fork) throw new Error('no fork')
  await program.ask(fork, 'change 5')
  const digest = await program.ask(fork, 'digest')
  const aside = await fork.snapshot()
  await fork.remove()
  await env.restore(aside)
  expect(await program.ask(env, 'digest')).toBe(digest)
})

test('a process forked inside a fork has its own copy', async () => {
  await using home = new TestHome('shared')
  const fp = await home.open()
  const env = await fp.create()
  const program = await startHolder(env, 60)
  const original = await program.ask(env, 'digest')
  const changed = await program.ask(env, 'expected 4')
  const [fork] = await (await env.snapshot()).fork(1)
  if (!fork) throw new Error('no fork')
  expect(await program.ask(fork, 'child 4')).toBe(`${changed} ${original}`)
  const [again] = await (await fork.snapshot()).fork(1)
  if (!again) throw new Error('no fork')
  expect(await program.ask(again, 'child 4')).toBe(`${changed} ${original}`)
})

test('threads change and grow their blocks in mapped memory', async () => {
  await using home = new TestHome('shared')
  const fp = await home.open()
  const env = await fp.create()
  const source = await bring(env, 'growing-blocks.c')
  await run(env, `gcc -O2 -pthread -o /root/blocks ${source}`)
  const program = dialogue('blocks', '/root/blocks', (mark) => `say ${mark}`)
  await program.start(env)
  expect(await program.ask(env, 'check')).toBe('OK')
  const base = await env.snapshot()
  expect(processOf(base, 'blocks')).toMatchObject({ shared: true })
  const [fork] = await base.fork(1)
  if (!fork) throw new Error('no fork')
  for (const branch of [env, fork]) {
    for (const line of ['check', 'fork', 'grow', 'fork', 'grow', 'check']) {
      expect(await program.ask(branch, line), line).toBe('OK')
    }
  }
  const second = await fork.snapshot()
  for (const line of ['check', 'grow', 'fork', 'check']) {
    expect(await program.ask(fork, line), line).toBe('OK')
  }
  await env.restore(second)
  for (const line of ['check', 'grow', 'fork', 'check']) {
    expect(await program.ask(env, line), line).toBe('OK')
  }
})

test('compiled JavaScript keeps running from mapped memory', async () => {
  await using home = new TestHome('shared')
  const fp = await home.open()
  const env = await fp.create()
  const script = `
    const kept = Array.from({ length: 400000 }, (_, i) => ({ i, text: 'word ' + i }))
    const sum = (n) => { let s = 0; for (let i = 0; i < n; i++) s += kept[i % kept.length].i & 7; return s }
    for (let i = 0; i < 50; i++) sum(400000)
    const spoil = () => { for (let i = 0; i < 40; i++) new Array(200000).fill(i).map(String); return 'spoilt' }
    const commands = { sum: () => sum(3000000), spoil, last: () => kept.at(-1).text }
    require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const [name, word] = line.split(' ')
      console.log(name === 'say' ? word : commands[name]())
    })`
  await env.files.write('/root/hot.cjs', script)
  const program = dialogue('hot', 'node /root/hot.cjs', (mark) => `say ${mark}`)
  await program.start(env)
  const sum = await program.ask(env, 'sum')
  const base = await env.snapshot()
  expect(processOf(base, 'node')).toMatchObject({ shared: true })
  const [fork] = await base.fork(1)
  if (!fork) throw new Error('no fork')
  await fork.snapshot()
  for (const branch of [env, fork]) {
    for (let round = 0; round < 3; round += 1) {
      expect(await program.ask(branch, 'sum')).toBe(sum)
      expect(await program.ask(branch, 'spoil')).toBe('spoilt')
      expect(await program.ask(branch, 'last')).toBe('word 399999')
    }
  }
})

test('only root inside can see pages of memory', async () => {
  await using home = new TestHome('shared')
  const fp = await home.open()
  const original = await fp.create()
  expect(await run(original, 'ls -A /.forkpoint/pages')).toBe('')
  await startHolder(original, 20)
  const [env] = await original.fork(1)
  if (!env) throw new Error('no fork')
  expect(await run(env, 'stat -c "%U %a" /.forkpoint/pages')).toBe('root 700')
  const [file = ''] = (await run(env, 'ls /.forkpoint/pages')).split('\n')
  expect(await run(env, `stat -c "%U %a" /.forkpoint/pages/${file}`)).toBe('root 400')
  const tried = `ls /.forkpoint/pages 2>&1; head -c 1 /.forkpoint/pages/${file} 2>&1; true`
  const output = await runAs(env, 'nobody', tried)
  expect(output.match(/Permission denied/g)).toHaveLength(2)
  expect(await run(env, `echo > /.forkpoint/pages/${file} 2>&1 || echo refused`)).toMatch(
    /refused$/,
  )
})

test('memory that is set to copy is copied, and so are all forks of it', async () => {
  await using home = new TestHome('shared')
  const fp = await home.open({ memory: 'share' })
  const env = await fp.create({ memory: 'copy' })
  const program = await startHolder(env, 30)
  const digest = await program.ask(env, 'digest')
  const base = await env.snapshot()
  expect(base.lastInfo.memory).toMatchObject({ mode: 'copy', sharedBytes: 0 })
  expect(base.lastInfo.memory?.copiedBytes).toBeGreaterThan(30 * mib)
  expect(processOf(base, 'python3').why).toBe('memory is set to copy')
  expect(readdirSync(placesOf(home.path).pages(base.id))).toEqual([])
  const [fork] = await base.fork(1)
  if (!fork) throw new Error('no fork')
  expect(await program.ask(fork, 'digest')).toBe(digest)
  expect((await fork.snapshot()).lastInfo.memory).toMatchObject({ mode: 'copy', sharedBytes: 0 })

  const other = await fp.create()
  const shared = await other.snapshot()
  expect(shared.lastInfo.memory).toMatchObject({ mode: 'share' })
})
