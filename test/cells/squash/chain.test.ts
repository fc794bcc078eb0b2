// Long chains of snapshots, whose layers are squashed while the environment continues. Only on ext4 do
// snapshots have layers.
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, expect, test } from 'vitest'
import { fanIn } from '../../../src/backends/native/overlay/squash/plan.ts'
import type { Environment, Snapshot } from '../../../src/index.ts'
import { lastDepth, layerLists } from '../../support/layer-lists.ts'
import { patiently } from '../../support/patiently.ts'
import { expectNothing } from '../../support/remains.ts'
import { TestHome } from '../../support/test-home.ts'

const home = new TestHome('chain', { volume: 'ext4' })
afterAll(() => home[Symbol.asyncDispose]())
const fp = await home.open()
afterEach(async () => {
  for (const env of await fp.list()) await env.remove()
  await fp.prune()
  await expectNothing(home)
})

async function grow(env: Environment, from: number, to: number): Promise<Snapshot[]> {
  const taken: Snapshot[] = []
  for (let i = from; i < to; i += 1) {
    await env.exec(
      `X=${i}; mkdir -p /srv/own; cd /srv/own; echo ${i} > f${i}; echo ${i} > same; rm -f f${i - 3}`,
    )
    taken.push(await env.snapshot())
  }
  return taken
}

async function expectStateOf(env: Environment, i: number): Promise<void> {
  const { stdout } = await env.exec('cd /srv/own; echo $X $(cat same) $(ls | sort -V)')
  const files = [i - 2, i - 1, i].filter((each) => each >= 0).map((each) => `f${each}`)
  expect(stdout.trim()).toBe(`${i} ${i} ${files.join(' ')} same`)
}

const squashedNames = () =>
  readdirSync(join(home.path, 'data/layers')).filter((name) => /\.\d+-\w+$/.test(name))

test('a long chain has few layers, and no snapshot in it has changed', async () => {
  const env = await fp.create()
  const count = 2 * fanIn + 3
  const taken = await grow(env, 0, count)
  await expect.poll(() => lastDepth(home), patiently).toBeLessThan(fanIn)
  expect(Math.max(...layerLists(home).map(({ length }) => length))).toBeLessThan(2 * fanIn)
  await expectStateOf(env, count - 1)
  for (const i of [0, 1, fanIn - 2, fanIn - 1, fanIn, 2 * fanIn - 1, count - 2, count - 1]) {
    await env.restore(taken[i] ?? '')
    await expectStateOf(env, i)
  }
  const [fork] = (await taken[fanIn]?.fork(1)) ?? []
  if (fork) await expectStateOf(fork, fanIn)
})

test('usage shows what is on the disk, and pruning frees it', async () => {
  const env = await fp.create()
  const taken = await grow(env, 0, fanIn + 1)
  await expect.poll(() => lastDepth(home), patiently).toBeLessThan(fanIn)
  for (const snapshot of taken) await snapshot.durable()
  const { snapshots, totals } = await fp.usage()
  const data = join(home.path, 'data')
  const places = taken.flatMap(({ id }) => [join(data, 'layers', id)])
  places.push(...squashedNames().map((name) => join(data, 'layers', name)))
  const bytes = execFileSync('du', ['-csB1', ...places], { encoding: 'utf8' })
  const onDisk = Number.parseInt(bytes.trim().split('\n').at(-1) ?? '', 10)
  const images = snapshots.reduce((sum, { imagesBytes }) => sum + imagesBytes, 0)
  expect(totals.snapshotBytes - images).toBe(onDisk)
  expect(snapshots.filter(({ squashedBytes }) => squashedBytes > 0)).toHaveLength(1)
  // The last one uses its own layer and the squashed one, which ends with the one before it.
  expect(snapshots.at(-1)?.sharedBytes).toBe(snapshots.at(-2)?.squashedBytes)

  await env.restore(taken[fanIn - 2] ?? '')
  const { remove } = await fp.prune()
  expect(remove).toEqual([taken[fanIn]?.id, taken[fanIn - 1]?.id])
  expect(squashedNames()).toEqual([])
  await expectStateOf(env, fanIn - 2)
})

test('running programs notice nothing, and the next snapshot uses the squashed layers', async () => {
  const env = await fp.create()
  await env.exec('cd /root; seq 100000 > old; exec 5< old; head -n 1 <&5')
  await grow(env, 0, 5)
  await env.exec('cd /root; for i in 0 1 2 3 4; do echo g$i > g$i; done')
  const base = await env.snapshot()
  await env.exec(`
    before=$(md5sum < old)
    while [ ! -e stop ]; do
      for i in 0 1 2 3 4; do [ "$(cat g$i)" = g$i ] || echo g$i is wrong; done
      [ "$(md5sum < old)" = "$before" ] || echo old is wrong
      echo tick >> ticks
    done > wrong 2>&1 & checks=$!`)
  const depth = lastDepth(home)
  expect(await base.compact()).toMatchObject({ layersBefore: depth, layersAfter: 1 })
  const { stdout } = await env.exec('touch stop; wait $checks; cat wrong; wc -l < ticks')
  expect(Number(stdout)).toBeGreaterThan(0)
  const next = await env.snapshot()
  expect(lastDepth(home)).toBe(2)
  await env.restore(next)
  const read = await env.exec('cd /root; head -n 1 <&5 | wc -l; tail -n 1 old; cat g0 g4')
  expect(read.stdout).toBe('1\n100000\ng0\ng4\n')
})

test('diffs show the same as before the squash', async () => {
  const env = await fp.create()
  await env.exec('cd /root; echo 1 > moved; echo 1 > stays; mkdir gone; touch gone/file')
  const [first, second, third] = [await env.snapshot(), ...(await grow(env, 0, 2))]
  await env.exec('cd /root; mv moved elsewhere; rm -r gone; echo 2 > f1')
  const last = await env.snapshot()
  const shown = async () => {
    const diffs = [
      first?.diff(last),
      last.diff(),
      env.diff(),
      third?.diff(first),
      second?.diff(env),
    ]
    return (await Promise.all(diffs)).map((diff) => diff?.changes)
  }
  const before = await shown()
  expect(before[1]?.map(({ path, kind }) => `${path} ${kind}`)).toContain('/root/elsewhere renamed')
  await third?.compact()
  await last.compact()
  expect(lastDepth(home)).toBe(1)
  expect(await shown()).toEqual(before)
})

test('a snapshot that changed nothing adds no layer', async () => {
  const env = await fp.create()
  await env.exec('echo 1 > /root/file')
  await env.snapshot()
  const before = layerLists(home).at(-1)
  const idle = await env.snapshot()
  expect(layerLists(home).at(-1)).toEqual(before)
  await env.restore(idle)
  expect((await env.exec('cat /root/file')).stdout).toBe('1\n')
})
