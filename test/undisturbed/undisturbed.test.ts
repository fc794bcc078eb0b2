// Nothing inside can notice a snapshot: programs that would notice run through one, three, and a hundred.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Environment } from '../../src/index.ts'
import { noteRefusal, noteWatching, unless } from '../support/evidence.ts'
import { forgetNames } from '../support/forget-names.ts'
import { OutsideNetwork, whyNoNetworks } from '../support/outside-network.ts'
import { TestHome } from '../support/test-home.ts'
import {
  noticingPrograms,
  programs,
  refusedPrograms,
  unavailablePrograms,
} from './catalogue/all.ts'
import { hundredfold } from './catalogue/hundred.ts'
import { compiledPrograms, namesOfCompiled } from './support/compiled.ts'
import { startFarServer } from './support/far-server.ts'
import { excuses, type Verdicts, watched } from './support/stage.ts'

const home = new TestHome('undisturbed', { log: 'error' })
const outside = whyNoNetworks === null ? await OutsideNetwork.start() : null
const farServer = outside && (await startFarServer(outside))
beforeAll(() => void compiledPrograms())
afterAll(async () => {
  await farServer?.[Symbol.asyncDispose]()
  await outside?.[Symbol.asyncDispose]()
  await home[Symbol.asyncDispose]()
})

const fileWatchers = new Set([
  'unread-events',
  'quiet-directory',
  'quiet-tree',
  'deleted-watched-file',
  'watch-numbers',
  'many-watches',
  'directory-notification',
])

const watching = programs.filter((program) => !program.outside || outside !== null)

async function snapshots(env: Environment, count: number, apartMs: number): Promise<void> {
  for (let taken = 0; taken < count; taken += 1) {
    await sleep(apartMs)
    await env.snapshot()
  }
  await sleep(apartMs)
}

function noticed(verdicts: Verdicts): string[] {
  const lines: string[] = []
  for (const [name, verdict] of verdicts) {
    noteWatching(name, verdict === 'ok')
    if (verdict !== 'ok') lines.push(`${name}: ${verdict}`)
  }
  return lines
}

/** Without btrfs a snapshot replaces the original, and its record says so. */
async function whyReplaced(): Promise<string | null> {
  const fp = await home.open()
  const env = await fp.create()
  const { original } = await (await env.snapshot()).info()
  await env.remove({ force: true })
  return original === 'kept' ? null : 'snapshots replace the original on this machine'
}

const whyDisturbed = await whyReplaced()

describe('programs that would notice', unless(whyDisturbed), () => {
  test.each([
    [1, 2_000, watching],
    [3, 1_000, watching],
    [100, 20, hundredfold(watching)],
  ])('do not notice %i snapshots', { timeout: 900_000 }, async (count, apartMs, those) => {
    const fp = await home.open()
    const env = await fp.create({ net: outside === null ? 'none' : 'nat' })
    const act = () => snapshots(env, count, apartMs)
    const verdicts = await watched(env, those, act, outside?.address)
    // A snapshot of so many connections under way may be one that cannot be restored.
    await env.remove({ force: true })
    expect(noticed(verdicts)).toEqual([])
  })
})

test('programs that watch files do not notice snapshots after the kernel has forgotten names', {
  ...unless(whyDisturbed),
}, async () => {
  const fp = await home.open()
  const env = await fp.create()
  const those = programs.filter(({ name }) => fileWatchers.has(name))
  const act = async () => {
    for (let taken = 0; taken < 3; taken += 1) {
      forgetNames()
      await env.snapshot()
    }
  }
  const verdicts = await watched(env, those, act)
  await env.remove({ force: true })
  expect(noticed(verdicts)).toEqual([])
  expect(verdicts.size).toBe(fileWatchers.size)
})

describe('what CRIU refuses to dump', () => {
  test.each(refusedPrograms)(
    '$name: a refused snapshot does not disturb it, either',
    async (program) => {
      const fp = await home.open()
      const env = await fp.create()
      const act = () => expect(env.snapshot()).rejects.toThrow(program.refusal)
      const verdicts = await watched(env, [program], act)
      await env.remove({ force: true })
      expect([...verdicts.values()]).toEqual(['ok'])
      noteRefusal(program.name)
    },
  )
})

test('what a program can still notice is known', {
  timeout: 200_000,
  ...unless(whyDisturbed),
}, async () => {
  const fp = await home.open()
  const env = await fp.create()
  const verdicts = await watched(env, noticingPrograms, () => snapshots(env, 1, 1_000))
  await env.remove({ force: true })
  for (const { name, notices } of noticingPrograms)
    expect(verdicts.get(name), name).toMatch(notices)
})

test('what no process in a cell can have says why', async () => {
  const fp = await home.open()
  const env = await fp.create()
  const said = await excuses(env, unavailablePrograms)
  await env.remove({ force: true })
  for (const { name, reason } of unavailablePrograms) expect(said.get(name)).toMatch(reason)
})

test('every program in C is in the catalogue', () => {
  const all = [...programs, ...noticingPrograms, ...refusedPrograms, ...unavailablePrograms]
  const listed = all.filter(({ command }) => command.startsWith('exec ../undisturbed '))
  expect(listed.map(({ name }) => name).toSorted()).toEqual(namesOfCompiled().toSorted())
})
