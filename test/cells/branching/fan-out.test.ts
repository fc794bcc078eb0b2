// A fan-out with forks that fail: the healthy ones are kept, or none.
import { afterAll, afterEach, expect, test } from 'vitest'
import {
  ConflictError,
  type Environment,
  type Forkpoint,
  type Snapshot,
} from '../../../src/index.ts'
import { expectNothing } from '../../support/remains.ts'
import { TestHome } from '../../support/test-home.ts'
import { expectTidy } from '../../support/tidiness.ts'

const home = new TestHome('fan-out')
afterAll(() => home[Symbol.asyncDispose]())
afterEach(async () => {
  await home.removeAll()
  await expectNothing(home)
})

/** A snapshot whose second fork of each fan-out fails in its hook. */
async function withFailingHook(fp: Forkpoint): Promise<Snapshot> {
  const env = await fp.create({ name: 'web' })
  const hook = '#!/bin/sh\ncase $FORKPOINT_NAME in *-2) echo no luck >&2; exit 3;; esac\n'
  await env.exec('mkdir -p /etc/forkpoint/on-fork.d; X=kept')
  await env.files.write('/etc/forkpoint/on-fork.d/luck', hook)
  await env.exec('chmod +x /etc/forkpoint/on-fork.d/luck')
  return await env.snapshot()
}

const namesOf = (environments: readonly Environment[]) => environments.map(({ name }) => name)

test('the forks that succeed are returned, with an error for each that failed', async () => {
  await using fp = await home.open()
  const ready = await withFailingHook(fp)
  const forks = await ready.fork(4, { name: 'try' })
  expect(namesOf(forks)).toEqual(['try-1', 'try-3', 'try-4'])
  expect(forks.errors).toHaveLength(1)
  expect(forks.errors[0]).toMatchObject({ code: 'backend_failed' })
  const memories = await Promise.all(forks.map((fork) => fork.exec('echo $X; hostname')))
  expect(memories.map(({ stdout }) => stdout)).toEqual([
    'kept\ntry-1\n',
    'kept\ntry-3\n',
    'kept\ntry-4\n',
  ])
  expect(namesOf(await fp.list()).sort()).toEqual(['try-1', 'try-3', 'try-4', 'web'])
  await expectTidy(home, fp)
})

test('with `atomic`, none of them is kept', async () => {
  await using fp = await home.open()
  const ready = await withFailingHook(fp)
  await expect(ready.fork(4, { name: 'try', atomic: true })).rejects.toThrow('a fork hook')
  expect(namesOf(await fp.list())).toEqual(['web'])
  await expectTidy(home, fp)
})

test('a name that somebody else takes in the meantime fails only that fork', async () => {
  await using fp = await home.open()
  const env = await fp.create({ name: 'web' })
  const ready = await env.snapshot()
  const [forks] = await Promise.all([
    ready.fork(12, { name: 'try' }),
    fp.create({ name: 'try-12' }),
  ])
  expect(forks).toHaveLength(11)
  expect(forks.errors).toEqual([expect.any(ConflictError)])
  expect(forks.errors[0]?.message).toContain('"try-12" is taken')
  await expectTidy(home, fp)
})

test('if none can be made, the call rejects and leaves nothing behind', async () => {
  await using fp = await home.open()
  const ready = await withFailingHook(fp)
  await expect(ready.fork(1, { name: 'luckless-2' })).rejects.toThrow('a fork hook')
  expect(namesOf(await fp.list())).toEqual(['web'])
})

test('a complete fan-out has no errors', async () => {
  await using fp = await home.open()
  const env = await fp.create()
  const forks = await env.fork(3)
  expect(forks).toHaveLength(3)
  expect(forks.errors).toEqual([])
  expect(Object.keys(forks)).toEqual(['0', '1', '2'])
})
