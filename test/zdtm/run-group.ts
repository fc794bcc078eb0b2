// A group of programs in one environment, through one round; split where only one of them is to blame.
import type { Environment, Forkpoint } from '../../src/index.ts'
import type { Outcome } from './outcomes.ts'
import type { Program } from './programs.ts'
import { type Asked, LostError, type RoundName, rounds } from './rounds.ts'
import { type Said, start, stop } from './stage.ts'

/** How much of a program's name the kernel keeps. */
const nameBytes = 15

export type Outcomes = Map<string, Outcome>

/** The round stopped half-way for all: which program is to blame is not known yet. */
interface Failed {
  readonly kind: 'refused' | 'lost'
  readonly words: string
  /** complaints of programs after a refusal, which must not disturb those that it refuses, either */
  readonly afterwards: ReadonlyMap<string, string>
}

/** What each of these programs came to. */
export async function runGroup(
  fp: Forkpoint,
  round: RoundName,
  programs: readonly Program[],
): Promise<Outcomes> {
  const result = await tryGroup(fp, round, programs)
  if (result instanceof Map) return result
  const parts = partsOf(programs, result)
  if (parts.length === 1) return blame(programs, result)
  const all: Outcomes = new Map()
  for (const part of parts) {
    for (const [name, outcome] of await runGroup(fp, round, part)) all.set(name, outcome)
  }
  return all
}

/** The one that the words name and the others, or halves. */
function partsOf(programs: readonly Program[], { words }: Failed): Program[][] {
  if (programs.length === 1) return [[...programs]]
  const named = programs.filter(({ name }) => isNamedIn(words, name))
  const [only] = named
  if (named.length === 1 && only !== undefined)
    return [[only], programs.filter((program) => program !== only)]
  const half = Math.ceil(programs.length / 2)
  return [programs.slice(0, half), programs.slice(half)]
}

/** Its command line begins with its name, or is gone. */
function isNamedIn(words: string, name: string): boolean {
  return [`./${name} `, `./${name}"`, `"${name}"`].some((each) => words.includes(each))
}

function blame(programs: readonly Program[], failed: Failed): Outcomes {
  return new Map(programs.map(({ name }) => [name, blamed(name, failed)]))
}

function blamed(name: string, { kind, words, afterwards }: Failed): Outcome {
  if (kind === 'lost') return { kind, words }
  const complaint = afterwards.get(name)
  if (complaint !== undefined) return { kind: 'wrong', words: `after a refusal: ${complaint}` }
  // Processes that it has started may have another command line.
  return { kind, words, isNamed: /\(pid \d+ inside\)/.test(words) }
}

async function tryGroup(
  fp: Forkpoint,
  round: RoundName,
  programs: readonly Program[],
): Promise<Outcomes | Failed> {
  const env = await fp.create()
  const made = [env]
  try {
    const started = await start(env, programs)
    const those = programs.filter(({ name }) => started.get(name) === 'ok')
    const asked = those.length === 0 ? [] : await actOn(env, round, programs.length)
    if (!Array.isArray(asked)) return asked
    made.push(...asked.map((each) => each.env).filter((each) => each !== env))
    const outcomes = await verdicts(asked, those)
    for (const { name } of programs.filter((program) => !those.includes(program)))
      outcomes.set(name, { kind: 'not started', words: started.get(name) ?? 'it was not started' })
    return outcomes
  } catch (error) {
    // An environment whose programs cannot be started or asked is broken.
    return { kind: 'lost', words: messageOf(error), afterwards: new Map() }
  } finally {
    await Promise.all(made.map((each) => each.remove({ force: true })))
  }
}

async function actOn(env: Environment, round: RoundName, count: number): Promise<Asked[] | Failed> {
  try {
    return await rounds[round](env)
  } catch (error) {
    if (error instanceof LostError)
      return { kind: 'lost', words: error.message, afterwards: new Map() }
    // Of several, each has its turn later.
    const said: Said = count === 1 ? await stop(env) : new Map()
    const afterwards = new Map([...said].filter(([, words]) => words !== 'ok'))
    return { kind: 'refused', words: messageOf(error), afterwards }
  }
}

async function verdicts(asked: readonly Asked[], programs: readonly Program[]): Promise<Outcomes> {
  const outcomes: Outcomes = new Map(programs.map(({ name }) => [name, { kind: 'passed' }]))
  await Promise.all(
    asked.map(async ({ where, env }) => {
      const { lost } = await env.info()
      const said = await stop(env)
      for (const { name } of programs) {
        const words = said.get(name) ?? 'its pid file is gone'
        if (words === 'ok') continue
        const told = lost.find(({ process }) => process?.command === name.slice(0, nameBytes))
        const complaint = `${where}: ${words}`
        if (told === undefined) outcomes.set(name, { kind: 'wrong', words: complaint })
        else
          outcomes.set(name, { kind: 'told', words: `${told.object}: ${told.what}; ${complaint}` })
      }
    }),
  )
  return outcomes
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
