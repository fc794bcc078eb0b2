// A snapshot and a restore handle names that programs inside chose. CRIU does it as root of the host:
// none of them may reach a file of the host or of another environment.
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import type { Environment } from '../../src/index.ts'
import { agentPid } from '../support/cell-processes.ts'
import { noteAttack } from '../support/evidence.ts'
import { failureOf } from '../support/failure-of.ts'
import { TemporaryDirectory } from '../support/temporary-directory.ts'
import { TestHome } from '../support/test-home.ts'
import { namePromises, rootNamePromises } from './catalogue/names.ts'
import { programInside } from './support/attack-environment.ts'
import { attackProgram } from './support/attack-program.ts'
import { fingerprint } from './support/fingerprint.ts'
import { LineReader } from './support/line-reader.ts'
import { type User, users } from './support/states.ts'

const home = new TestHome('names', { 'spares.count': 0 })
const files = new TemporaryDirectory()
afterEach(() => home.removeAll())
afterAll(async () => {
  files[Symbol.dispose]()
  await home[Symbol.asyncDispose]()
})
const fp = await home.open()

/** A directory of the host with everything that the poses look for. */
function makeTarget(name: string): string {
  chmodSync(files.path, 0o755)
  const target = files.file(name)
  for (const path of [target, join(target, 'victim'), join(target, 'forkpoint')]) {
    mkdirSync(path)
    chmodSync(path, 0o777)
  }
  writeFileSync(join(target, 'file'), 'of the host')
  return target
}

async function takePose(env: Environment, name: string, user: User, target: string): Promise<void> {
  const base = `/tmp/pose-${user}`
  await env.exec(['bash', '-c', `mkdir -m 777 ${base}`], { mode: 'process' })
  const command = await env.spawn([programInside, 'pose', name], {
    mode: 'process',
    user,
    cwd: '/',
    env: { ATTACK_POSE_BASE: base, ATTACK_POSE_TARGET: target },
  })
  await new LineReader(command.stdout).until('posed')
}

/** Where the neighbour's files are, seen through the host's /proc. */
function rootOf(neighbour: Environment): string {
  return `/proc/${agentPid(home, neighbour)}/root`
}

/** The neighbour's own view of directories of the host. */
async function viewOf(neighbour: Environment, paths: readonly string[]): Promise<string> {
  const look = `find ${paths.join(' ')} -printf '%p %i %m %T@ %C@\\n'`
  return (await neighbour.exec(['bash', '-c', look], { mode: 'process' })).stdout
}

/** A snapshot, a fork of it and a restore from disk; each may be refused with a clear error. */
async function branch(env: Environment, poses: readonly User[]): Promise<string[]> {
  const tryAll = () => poses.forEach(noteAttack)
  tryAll()
  const taken = await env.snapshot()
  const failures: string[] = []
  const note = (failure: unknown) => failures.push(String(failure))
  tryAll()
  const forks = await taken.fork(1).catch(note)
  if (Array.isArray(forks)) await forks[0]?.remove()
  await env.pause({ release: true })
  const later = await home.open()
  tryAll()
  await (await later.get(env.id)).resume().catch(note)
  return failures
}

interface Scene {
  readonly env: Environment
  readonly neighbour: Environment
  readonly targets: readonly string[]
}

async function setScene(name: string, as: readonly User[]): Promise<Scene> {
  const [env, neighbour] = await Promise.all([fp.create(), fp.create()])
  await env.files.write(programInside, readFileSync(attackProgram()), { mode: 0o755 })
  const targets = as.map((user) => makeTarget(`${name}-${user}`))
  const prefix = name === 'ghost-by-proc' ? rootOf(neighbour) : ''
  for (const [index, user] of as.entries())
    await takePose(env, name, user, `${prefix}${targets[index]}`)
  return { env, neighbour, targets }
}

async function attack(name: string, as: readonly User[]): Promise<void> {
  const { env, neighbour, targets } = await setScene(name, as)
  const look = async () => [...targets.flatMap(fingerprint), await viewOf(neighbour, targets)]
  const before = await look()
  const refused = await failureOf(branch(env, as))
  expect(await look(), `files outside after ${name} (${refused ?? 'branched'})`).toEqual(before)
  // Whatever was refused, the environment still runs and answers.
  const now = await (await home.open()).get(env.id)
  expect((await now.exec('echo here')).stdout, String(refused)).toBe('here\n')
  for (const target of targets) touch(target)
  expect(await look(), 'a name that came and went would be noticed').not.toEqual(before)
}

function touch(target: string): void {
  writeFileSync(join(target, 'came'), '')
  rmSync(join(target, 'came'))
}

describe.each(namePromises)('$promise', ({ attacks }) => {
  test.for(attacks)('%s', (name) => attack(name, users))
})

describe.each(rootNamePromises)('$promise', ({ attacks }) => {
  test.for(attacks)('%s', (name) => attack(name, ['root']))
})
