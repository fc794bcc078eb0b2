import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { placesOf } from '../../src/backends/native/places.ts'
import type { Environment } from '../../src/index.ts'
import { TestHome } from '../support/test-home.ts'
import { volumeKind } from '../support/volume-kind.ts'
import { run } from '../support/workloads/run.ts'
import { snapshotsInARow } from './soak-length.ts'

interface Sample {
  readonly pauseMs: number
  /** of the processes inside */
  readonly memoryBytes: number
  /** that this snapshot takes */
  readonly imagesBytes: number
}

/** A shell that works a little, with some files and a process that writes memory. */
async function startWork(env: Environment): Promise<void> {
  await run(env, 'mkdir /root/work; cd /root/work; for i in $(seq 200); do echo $i > file-$i; done')
  await run(env, 'while sleep 0.05; do n=$((n + 1)); echo $n > counter; done &')
}

async function sample(env: Environment): Promise<Sample> {
  const { timing, sizes } = await (await env.snapshot()).info()
  const { memory } = await env.stats()
  return {
    pauseMs: timing.pauseMs,
    memoryBytes: memory.totalBytes,
    imagesBytes: sizes.imagesBytes,
  }
}

/**
 * Blocks that the home takes on disk. Of btrfs, what it uses: it puts new metadata into new blocks of its file
 * until a chunk of 1 GiB is full, and only then uses old ones again.
 */
function diskBytes(home: TestHome): number {
  const run = (program: string, ...words: string[]) =>
    spawnSync(program, words, { encoding: 'utf8' }).stdout
  // It fails if a file disappears meanwhile, but still prints the sum.
  const printed = run('du', '-s', '--block-size=1', '--exclude=volume.btrfs', home.path)
  const { files } = placesOf(home.path)
  if (volumeKind !== 'btrfs') return Number(printed.split('\t')[0])
  const used = Array.from(run('btrfs', 'filesystem', 'df', '-b', files).matchAll(/used=(\d+)/g))
  return used.reduce((sum, [, bytes]) => sum + Number(bytes), Number(printed.split('\t')[0]))
}

/** The middle value of some samples: a busy machine has outliers. */
function middle(samples: readonly Sample[], what: keyof Sample): number {
  const sorted = samples.map((one) => one[what]).toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN
}

/** Samples of an old environment and of a young one, in turns, so that a busy machine slows both. */
async function inTurns(old: Environment, young: Environment, count: number) {
  const samples: { old: Sample[]; young: Sample[] } = { old: [], young: [] }
  for (let turn = 0; turn < count; turn += 1) {
    samples.old.push(await sample(old))
    samples.young.push(await sample(young))
  }
  return samples
}

test(`${snapshotsInARow} snapshots of one environment: pause, memory and disk stay flat`, {
  timeout: 60_000 + snapshotsInARow * 2_000,
}, async () => {
  await using home = new TestHome('in-a-row')
  const fp = await home.open()
  const env = await fp.create()
  await startWork(env)
  const samples: Sample[] = []
  const disk: number[] = [diskBytes(home)]
  const own = process.memoryUsage().rss
  for (let half = 1; half <= 2; half += 1) {
    while (samples.length < (snapshotsInARow * half) / 2) samples.push(await sample(env))
    disk.push(diskBytes(home))
  }
  const young = await fp.create()
  await startWork(young)
  const part = 15
  const end = await inTurns(env, young, part)
  // The very first one writes everything.
  const first = samples.slice(1, 1 + part)
  const pauses = { old: middle(end.old, 'pauseMs'), young: middle(end.young, 'pauseMs') }
  const grown = (what: keyof Sample) => middle(end.old, what) / middle(first, what)
  const [before = 0, half = 0, whole = 0] = disk
  console.log(
    `${samples.length} snapshots: pause ${pauses.old.toFixed(1)} ms, of a young environment ${pauses.young.toFixed(1)} ms, ` +
      `memory × ${grown('memoryBytes').toFixed(2)}, images ${middle(end.old, 'imagesBytes')} bytes each, ` +
      `disk ${half - before} then ${whole - half} bytes, own memory ${process.memoryUsage().rss - own} bytes more`,
  )
  expect(pauses.old).toBeLessThan(pauses.young * 1.4 + 15)
  expect(grown('memoryBytes')).toBeLessThan(1.2)
  expect(grown('imagesBytes')).toBeLessThan(1.2)
  expect(whole - half).toBeLessThan((half - before) * 1.2 + 4e6)
  expect(process.memoryUsage().rss - own).toBeLessThan(200e6)
  // The environment has noticed nothing, and its last snapshot is whole.
  const [fork] = await env.fork(1)
  expect(await run(fork ?? env, 'cat file-200; ls | wc -l')).toBe('200\n201')
})
