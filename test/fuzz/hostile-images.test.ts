// Hostile names in the images of a real snapshot, restored by the real CRIU: whatever they are, no file of
// the host changes, nothing hangs, and this process does not grow.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { placesOf } from '../../src/backends/native/places.ts'
import { writeManifest } from '../../src/criu/manifest.ts'
import { type Environment, ForkpointError } from '../../src/index.ts'
import { listTree } from '../support/list-tree.ts'
import { TemporaryDirectory } from '../support/temporary-directory.ts'
import { TestHome } from '../support/test-home.ts'
import { hostileName, renameInFiles, renameInMounts, type Targets } from './hostile-images.ts'
import { fuzzFirstRound, fuzzMs, fuzzSeed, howToRepeat, randomOf } from './random.ts'

const holder = readFileSync(
  fileURLToPath(new URL('../cells/names/holder.py', import.meta.url)),
  'utf8',
)
const mostMsPerRound = 60_000
const mostGrowthBytes = 200 * 1024 ** 2

const home = new TestHome('hostile-images')
const files = new TemporaryDirectory()
afterAll(async () => {
  await home[Symbol.asyncDispose]()
  files[Symbol.dispose]()
})

/** Starts a program that has names of every kind open, next to links to the host. */
async function prepare(env: Environment, targets: Targets): Promise<void> {
  await env.files.write('/tmp/holder.py', holder)
  const [target = ''] = targets.host
  for (const link of targets.links) await env.exec(`ln -s ${target} ${link}`)
  for (const held of [
    'deleted-file',
    'deleted-directory',
    'deleted-fifo',
    'linked-elsewhere',
    'socket-through-link',
    'watched-directory',
  ]) {
    await env.exec(
      `mkfifo /tmp/${held}.out; exec 9<>/tmp/${held}.out
       setsid python3 /tmp/holder.py ${held} /tmp/${held} /tmp <>/tmp/${held}.out >&9 2>&1 &
       read -t 20 line <&9`,
    )
  }
}

test('names in images reach no file of the host', { timeout: fuzzMs(1) + 240_000 }, async () => {
  await using fp = await home.open({ 'spares.count': 0 })
  const canaries = files.file('host')
  mkdirSync(join(canaries, 'victim'), { recursive: true })
  writeFileSync(join(canaries, 'other'), 'of the host')
  const targets: Targets = {
    host: [canaries, join(canaries, 'victim'), home.path],
    links: ['/tmp/out', '/root/out'],
  }
  const env = await fp.create()
  await prepare(env, targets)
  const snapshot = await env.snapshot({ durable: true })
  const place = placesOf(home.path).snapshot(snapshot.id)
  const images = join(place, 'images')
  const [mounts = ''] = readdirSync(images).filter((name) => name.startsWith('mountpoints-'))
  const before = listTree(canaries)
  const original = new Map(
    ['files.img', mounts].map((name) => [name, readFileSync(join(images, name))]),
  )
  const tally = { restored: 0, refused: 0 }
  const rss = process.memoryUsage().rss
  const end = Date.now() + fuzzMs(1)
  for (let round = fuzzFirstRound; Date.now() < end || round === fuzzFirstRound; round += 1) {
    const random = randomOf(round)
    const share = random.pick([0.02, 0.1, 0.5])
    const rename = (name: string) =>
      random.chance(share) ? hostileName(random, targets, name) : name
    for (const [name, bytes] of original) {
      const isFiles = name === 'files.img'
      const changed = isFiles
        ? renameInFiles(bytes, rename)
        : random.chance(0.2)
          ? renameInMounts(bytes, rename)
          : bytes
      writeFileSync(join(images, name), changed)
    }
    await writeManifest(place)
    const began = Date.now()
    try {
      const forks = await snapshot.fork(1)
      tally.restored += 1
      for (const fork of forks) await fork.remove()
    } catch (error) {
      expect(error, howToRepeat(round)).toBeInstanceOf(ForkpointError)
      tally.refused += 1
    }
    expect(Date.now() - began, howToRepeat(round)).toBeLessThan(mostMsPerRound)
    expect(listTree(canaries), howToRepeat(round)).toBe(before)
    expect(process.memoryUsage().rss - rss, howToRepeat(round)).toBeLessThan(mostGrowthBytes)
    if (process.env.FORKPOINT_FUZZ_ROUND !== undefined) break
  }
  for (const [name, bytes] of original) writeFileSync(join(images, name), bytes)
  await writeManifest(place)
  // The snapshot itself still works: the others were refused because of their names.
  const [fork] = await snapshot.fork(1)
  expect((await fork?.exec('echo alive'))?.stdout).toBe('alive\n')
  console.log(
    `hostile images: seed ${fuzzSeed}, restored ${tally.restored}, refused ${tally.refused}`,
  )
})
