// `pause --release` keeps a snapshot and nothing else: whatever fails, one of the two must remain.
import { mkdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type Environment, type Forkpoint, ForkpointError } from '../../src/index.ts'
import { cgroupsOf } from '../support/cell-processes.ts'
import { failureOf } from '../support/failure-of.ts'
import { expectNothing } from '../support/remains.ts'
import { runProgram } from '../support/run-program.ts'
import { TemporaryDirectory } from '../support/temporary-directory.ts'
import { TestHome } from '../support/test-home.ts'
import { expectTidy } from '../support/tidiness.ts'

// The kernel never lets go of the obstacle; nobody has to wait so long for that.
vi.stubEnv('FORKPOINT_SECOND_MS', '200')

const home = new TestHome('failed-release', { 'spares.count': 0 })
afterAll(() => home[Symbol.asyncDispose]())

let fp: Forkpoint
let env: Environment

beforeEach(async () => {
  fp = await home.open()
  env = await fp.create({ name: 'sleeper' })
  await env.exec('X=kept; echo kept > /root/file; sleep 1000 & job=$!')
})

afterEach(async () => {
  await fp.close()
  await home.removeAll()
  await expectNothing(home)
})

async function expectAllKept(): Promise<void> {
  const { stdout } = await env.exec('echo $X $(cat /root/file) $(kill -0 $job && echo alive)')
  expect(stdout).toBe('kept kept alive\n')
}

test('a release whose snapshot cannot be written to the disk leaves the environment running', async () => {
  using tools = new TemporaryDirectory()
  writeFileSync(tools.file('sync'), '#!/bin/sh\necho the disk is broken >&2; exit 1\n', {
    mode: 0o755,
  })
  const PATH = `${tools.path}:${process.env.PATH}`
  const ended = await runProgram(home, ['release', 'sleeper'], { PATH })
  expect(ended.exitCode).toBe(1)
  expect(ended.stderr).toContain('flushing a snapshot failed: the disk is broken')
  expect((await env.info()).status).toBe('running')
  await expectAllKept()
  expect(await fp.snapshots()).toEqual([])
  await expectTidy(home, fp)
})

test('a release that cannot end the processes for good keeps the snapshot', async () => {
  // A cgroup that contains another one cannot be removed.
  const obstacle = join(cgroupsOf(home, env)[0] ?? '', 'obstacle')
  mkdirSync(obstacle)
  const failure = await failureOf(env.pause({ release: true }))
  rmdirSync(obstacle)
  expect(failure).toBeInstanceOf(ForkpointError)
  expect(String(failure)).toContain('cannot remove the cgroup')
  expect((await env.info()).status).toBe('released')
  expect((await fp.snapshots()).map(({ lastInfo }) => lastInfo)).toMatchObject([
    { id: (await env.info()).head, status: 'ready', durable: true },
  ])
  await env.resume()
  await expectAllKept()
})
