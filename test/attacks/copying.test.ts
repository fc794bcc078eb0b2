// Files that hostile code made, copied to the host: they must end up where they belong, and instruct nobody
// what to do.
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Environment } from '../../src/index.ts'
import { noteAttack } from '../support/evidence.ts'
import { failureOf } from '../support/failure-of.ts'
import { TemporaryDirectory } from '../support/temporary-directory.ts'
import { TestHome } from '../support/test-home.ts'
import { copyPromises } from './catalogue/host-side.ts'
import { copyAttacks, makePlace } from './support/copy-attacks.ts'
import { fingerprint } from './support/fingerprint.ts'
import { allRuns, environmentIn, nameOf, type State, states, type User } from './support/states.ts'

const home = new TestHome('copying', { 'spares.count': 0 })
const files = new TemporaryDirectory()
const byState = new Map<State, Environment>()
afterAll(async () => {
  files[Symbol.dispose]()
  await home[Symbol.asyncDispose]()
})

beforeAll(async () => {
  mkdirSync(files.file('work'))
  chmodSync(files.path, 0o755)
  chmodSync(files.file('work'), 0o777)
  writeFileSync(files.file('work/mine'), 'of the host')
  for (const state of states)
    byState.set(state, await environmentIn(home, state, { from: `dir:${files.file('work')}` }))
}, 120_000)

/** What must not change: everything of the victim, and who may read and write the host's own file. */
function look(place: string): string[] {
  const mine = statSync(join(place, 'out/mine'))
  const own = `${mine.mode} ${mine.ino} ${readFileSync(join(place, 'out/mine'))}`
  return [own, ...fingerprint(join(place, 'victim'))]
}

async function attack(name: string, env: Environment, user: User, place: string): Promise<void> {
  makePlace(place)
  const before = look(place)
  const inside = async (script: string) => {
    // They share one directory, because only one corresponds to the host's.
    const words = ['bash', '-c', `umask 0; cd ${files.file('work')}; ${script}`]
    const { exitCode, stderr } = await env.exec(words, { mode: 'process', user })
    expect([exitCode, stderr]).toEqual([0, ''])
  }
  const failure = await failureOf(
    copyAttacks[name]?.({ env, inside, place }) ?? Promise.reject(name),
  )
  await env.exec(['bash', '-c', `rm -rf ${files.file('work')}/{p,suid,more,.fork*}`], {
    mode: 'process',
  })
  expect(failure, `${name} in ${place}`).toBe(null)
  expect(look(place), `${name} in ${place}`).toEqual(before)
  writeFileSync(join(place, 'victim/planted'), '')
  expect(look(place), 'a change would be noticed').not.toEqual(before)
}

describe.each(copyPromises)('$promise', ({ attacks }) => {
  test.for(attacks)('%s', async (name) => {
    for (const run of allRuns) {
      const env = byState.get(run.state)
      if (env === undefined) throw new Error(`no environment ${run.state}`)
      await attack(name, env, run.user, files.file(`${name}-${nameOf(run)}`))
      noteAttack()
    }
  })
})
