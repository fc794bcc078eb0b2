// Runs programs side by side in one environment, through whatever is done to it, and collects what each says.
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Environment } from '../../../src/index.ts'
import type { Program } from '../catalogue/program.ts'
import { compiledPrograms, sources } from './compiled.ts'

const place = '/root/undisturbed'
/** The slowest compile something first, while all others start on the same two cores. */
const startingMs = 120_000
const endingMs = 90_000

/** What each program said, by its name: "ok", or what it noticed. */
export type Verdicts = ReadonlyMap<string, string>

/** Starts the programs, does `act` when all are ready, tells them that it is over, and asks each. */
export async function watched(
  env: Environment,
  programs: readonly Program[],
  act: () => Promise<void>,
  outsideAddress = '',
): Promise<Verdicts> {
  await started(env, programs, outsideAddress)
  await act()
  return await asked(env, programs)
}

/** Starts the programs, and waits until all are ready. */
export async function started(
  env: Environment,
  programs: readonly Program[],
  outsideAddress = '',
): Promise<void> {
  await start(env, programs, outsideAddress)
  await allReady(env, programs)
}

/** Tells the programs in this environment, or in a copy of it, that it is over, and asks each. */
export async function asked(env: Environment, programs: readonly Program[]): Promise<Verdicts> {
  await run(env, `kill $(cat ${place}/holder)`)
  return await verdicts(env, programs)
}

/** The same in a copy: what each says, line by line, with how it ended. */
export async function askCopy(
  env: Environment,
  programs: readonly Program[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  await run(env, `cd ${place}; touch copied; kill $(cat holder)`)
  const [said, ended] = await allEnded(env, programs)
  const end = (name: string) => ended.get(name)?.[0] ?? 'it has not ended'
  return new Map(programs.map(({ name }) => [name, [...(said.get(name) ?? []), end(name)]]))
}

/** What programs say that cannot make what they want to watch, by name. */
export async function excuses(env: Environment, programs: readonly Program[]): Promise<Verdicts> {
  await start(env, programs, '')
  return verdicts(env, programs)
}

async function start(env: Environment, programs: readonly Program[], address: string) {
  await env.files.mkdir(place)
  await env.files.upload(sources, `${place}/programs`)
  const executable = readFileSync(compiledPrograms())
  await env.files.write(`${place}/undisturbed`, executable, { mode: 0o755 })
  const list = programs.map(({ name, command }) => `${name}\t${command}\n`)
  await env.files.write(`${place}/list`, list.join(''))
  // The standard input of all programs is a FIFO that ends for all of them at once, with its writer.
  await run(env, `cd ${place}; mkfifo hold; (sleep infinity > hold) & echo $! > holder`)
  const launch = `OUTSIDE=${address} setsid -f ./undisturbed launch list < /dev/null > launched 2>&1`
  await run(env, `cd ${place}; ${launch}`)
}

/** Lines of the files that programs write, by program. */
async function linesOf(env: Environment, file: 'said' | 'ended'): Promise<Map<string, string[]>> {
  const { stdout } = await env.exec(`cd ${place}; grep -aH '' */${file}`, { timeoutMs: 30_000 })
  const lines = new Map<string, string[]>()
  for (const line of stdout.split('\n')) {
    const [, name, text] = /^([^/]+)\/[a-z]+:(.*)$/.exec(line) ?? []
    if (name === undefined || text === undefined) continue
    lines.set(name, [...(lines.get(name) ?? []), text])
  }
  return lines
}

async function allReady(env: Environment, programs: readonly Program[]): Promise<void> {
  for (const deadline = Date.now() + startingMs; ; await sleep(200)) {
    const said = await linesOf(env, 'said')
    const late = programs.filter(({ name }) => !said.get(name)?.includes('ready'))
    if (late.length === 0) return
    const broken = late.filter(({ name }) => said.get(name)?.some((line) => /^cannot/.test(line)))
    if (broken.length < late.length && Date.now() < deadline) continue
    const words = late.map(({ name }) => `${name}: ${said.get(name)?.join('; ') ?? 'silent'}`)
    throw new Error(`not ready: ${words.join('\n')}`)
  }
}

type Lines = ReadonlyMap<string, readonly string[]>

/** What the programs have said, and how they ended, when all have or it takes too long. */
async function allEnded(env: Environment, programs: readonly Program[]): Promise<[Lines, Lines]> {
  const deadline = Date.now() + endingMs
  let ended = await linesOf(env, 'ended')
  while (ended.size < programs.length && Date.now() < deadline) {
    await sleep(200)
    ended = await linesOf(env, 'ended')
  }
  return [await linesOf(env, 'said'), ended]
}

async function verdicts(env: Environment, programs: readonly Program[]): Promise<Verdicts> {
  const [said, ended] = await allEnded(env, programs)
  return new Map(
    programs.map(({ name }) => [name, verdict(said.get(name) ?? [], ended.get(name)?.[0])]),
  )
}

function verdict(said: readonly string[], ended: string | undefined): string {
  const words = said.filter((line) => line !== 'ready')
  if (ended === 'status 0' && words.join() === 'ok') return 'ok'
  const end = ended === undefined ? 'it has not ended' : `it ended with ${ended}`
  return [...words.slice(0, 8), end].join('\n  ')
}

async function run(env: Environment, command: string): Promise<void> {
  const { exitCode, stdout, stderr } = await env.exec(command, { timeoutMs: 30_000 })
  if (exitCode !== 0) throw new Error(`${command} ended with ${exitCode}: ${stdout}${stderr}`)
}
