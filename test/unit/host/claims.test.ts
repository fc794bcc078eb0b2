import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { saveClaim, thisMachine } from '../../../src/api/host/apply/claim-file.ts'
import { acquireClaim, tryClaim } from '../../../src/api/host/apply/claims.ts'
import { recoverApplies } from '../../../src/api/host/apply/recover.ts'
import { applyTo } from '../../../src/api/host/apply.ts'
import { identify } from '../../../src/linux/process-identity.ts'
import { added, fileEntry, sourceOf } from '../../support/hand-made-changes.ts'
import { TemporaryDirectory } from '../../support/temporary-directory.ts'

let files: TemporaryDirectory
let other: ChildProcess
beforeEach(() => {
  files = new TemporaryDirectory()
  mkdirSync(files.file('target'))
  other = spawn('sleep', ['1000'], { stdio: 'ignore' })
})
afterEach(() => {
  other.kill('SIGKILL')
  files[Symbol.dispose]()
})

const state = () => files.file('state')

function place() {
  const path = files.file('target')
  const { dev, ino } = statSync(path, { bigint: true })
  return { path, device: String(dev), inode: String(ino) }
}

async function claimOf(machine = thisMachine()): Promise<void> {
  const { path: target, device, inode } = place()
  const owner = identify(other.pid ?? 0)
  if (owner === undefined) throw new Error('the other process does not exist')
  const staging = `.forkpoint-apply-${'0'.repeat(32)}`
  const facts = { id: 'other-one', machine, target, device, inode, staging }
  await saveClaim(state(), { ...facts, owner })
}

test('a directory that many want at the same time is claimed by one after the other', async () => {
  let [inside, most, count] = [0, 0, 0]
  const one = async () => {
    await using _held = await acquireClaim(state(), place())
    inside += 1
    most = Math.max(most, inside)
    await new Promise((resolve) => setTimeout(resolve, 2))
    inside -= 1
    count += 1
  }
  await Promise.all(Array.from({ length: 12 }, one))
  expect({ most, count }).toEqual({ most: 1, count: 12 })
  expect(readdirSync(state())).toEqual([])
})

test('a living process keeps others out, and one that has ended does not', async () => {
  await claimOf()
  expect((await tryClaim(state(), place())).claim).toBeUndefined()
  expect(await recoverApplies(state())).toEqual({ recovered: 0, left: [] })
  other.kill('SIGKILL')
  await once(other, 'exit')
  expect(await recoverApplies(state())).toEqual({ recovered: 1, left: [] })
  expect(readdirSync(state())).toEqual([])
})

test('a claim of another machine is left alone', async () => {
  await claimOf('another machine')
  other.kill('SIGKILL')
  await once(other, 'exit')
  const source = sourceOf([added('a', fileEntry('x'))], [{ name: 'w/a', content: 'x' }])
  await applyTo(files.file('target'), source, { stateDir: state() })
  expect(await recoverApplies(state())).toEqual({ recovered: 0, left: [] })
  expect(readdirSync(state())).toEqual(['other-one.claim'])
})

test.each([
  ['that cannot be read', () => writeFileSync(`${state()}/other-one.claim`, 'x', { mode: 0o600 })],
  ['that others can write', () => chmodSync(`${state()}/other-one.claim`, 0o666)],
])('a claim %s is reported, and does not block anyone', async (_, spoil) => {
  await claimOf()
  spoil()
  const { left } = await recoverApplies(state())
  expect(left).toMatchObject([{ id: 'other-one', error: { code: 'backend_failed' } }])
  const source = sourceOf([added('a', fileEntry('x'))], [{ name: 'w/a', content: 'x' }])
  await applyTo(files.file('target'), source, { stateDir: state() })
  expect(readdirSync(files.file('target'))).toEqual(['a'])
})

test('where nothing was ever applied, there is nothing to recover', async () => {
  expect(await recoverApplies(files.file('none'))).toEqual({ recovered: 0, left: [] })
})
