// SIGKILL at every step of an apply on the caller's side, with no engine and no store on the machine.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { recoverApplies } from '../../src/api/host/apply/recover.ts'
import { applyTo } from '../../src/api/host/apply.ts'
import { killWalks } from '../support/kill-walks.ts'
import { TemporaryDirectory } from '../support/temporary-directory.ts'
import { applySource } from './support/apply-source.ts'

const program = fileURLToPath(new URL('programs/apply-onto.ts', import.meta.url))

let files: TemporaryDirectory
beforeEach(() => {
  files = new TemporaryDirectory()
  mkdirSync(target())
  for (const name of ['kept', 'replaced', 'removed']) writeFileSync(files.file(`w/${name}`), name)
})
afterEach(() => files[Symbol.dispose]())

const target = () => files.file('w')
const stateDir = () => files.file('state')

function killAt(point: string): void {
  const words = ['--disable-warning=ExperimentalWarning', program, target(), stateDir()]
  const env = { ...process.env, FORKPOINT_KILL_AT: point }
  const { signal, stderr } = spawnSync(process.execPath, words, { env, encoding: 'utf8' })
  expect({ signal, stderr }).toEqual({ signal: 'SIGKILL', stderr: '' })
}

function expectBefore(): void {
  expect(readdirSync(target()).sort()).toEqual(['kept', 'removed', 'replaced'])
  for (const name of readdirSync(target())) {
    expect(readFileSync(files.file(`w/${name}`), 'utf8')).toBe(name)
  }
  expect(readdirSync(stateDir())).toEqual([])
}

function expectAfter(): void {
  expect(readdirSync(target()).sort()).toEqual(['d', 'kept', 'replaced'])
  expect(readFileSync(files.file('w/replaced'), 'utf8')).toBe('new')
  expect(readFileSync(files.file('w/d/f'), 'utf8')).toBe('deep')
  expect(readdirSync(stateDir())).toEqual([])
}

describe('a caller that is killed', () => {
  test.each(killWalks.apply.filter((point) => point !== 'apply:done'))(
    'at %s has changed nothing after recovery',
    async (point) => {
      killAt(point)
      expect(await recoverApplies(stateDir())).toEqual({ recovered: 1, left: [] })
      expectBefore()
    },
  )

  test.each(killWalks.apply)('at %s does not prevent the same apply again', async (point) => {
    killAt(point)
    await applyTo(target(), applySource(), { stateDir: stateDir() })
    expectAfter()
  })

  test('at apply:done has changed everything, and leaves nothing else behind', async () => {
    killAt('apply:done')
    expect(await recoverApplies(stateDir())).toEqual({ recovered: 1, left: [] })
    expectAfter()
  })

  test('is recovered by exactly one of many processes that try', async () => {
    killAt('apply:taken')
    const all = await Promise.all(Array.from({ length: 5 }, () => recoverApplies(stateDir())))
    expect(all.flatMap(({ left }) => left)).toEqual([])
    const recovered = all.reduce((sum, each) => sum + each.recovered, 0)
    // All may have left it to each other; then the next one does it.
    if (recovered === 0) await recoverApplies(stateDir())
    expectBefore()
  })
})
