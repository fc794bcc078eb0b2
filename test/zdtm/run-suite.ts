// All programs through all rounds: in groups, because an environment for each would take hours.
import type { Forkpoint } from '../../src/index.ts'
import type { Entry, Results } from './outcomes.ts'
import type { Program } from './programs.ts'
import { copyingRounds, type RoundName } from './rounds.ts'
import { type Outcomes, runGroup } from './run-group.ts'

const groupSize = 24
const groupsAtOnce = 3
/** A program that has failed among others is tried alone. Most only wait then, until we lose patience. */
const singlesAtOnce = 16

type Found = Pick<Results, 'passUndisturbed' | 'failUndisturbed' | 'entries'>

type Say = (line: string) => void

export async function runSuite(
  fp: Forkpoint,
  programs: readonly Program[],
  repetitions: number,
  say: Say,
): Promise<Found> {
  const { together, alone, failUndisturbed } = await undisturbed(fp, programs, say)
  const failsSometimes = new Map<string, string>()
  const entries: Entry[] = []
  // What is refused once is refused again, and would only make us split its group.
  const single = new Set(alone)
  for (let repetition = 1; repetition <= repetitions; repetition += 1) {
    for (const round of copyingRounds) {
      const those = [...together, ...alone]
      const groups = grouped(
        those.filter((program) => !single.has(program)),
        groupSize,
      )
      const outcomes = await runRound(fp, round, [...groups, ...grouped([...single], 1)])
      for (const program of those.filter(({ name }) => !failsSometimes.has(name))) {
        const outcome = outcomes.get(program.name)
        if (outcome?.kind !== 'wrong') continue
        if (!(await saysSoUndisturbed(fp, program, outcome.words))) continue
        say(`  ${program.name}: says so undisturbed, too, if it is asked often: ${outcome.words}`)
        failsSometimes.set(program.name, outcome.words)
      }
      for (const program of those) {
        const kind = outcomes.get(program.name)?.kind
        if (kind === 'refused' || kind === 'lost') single.add(program)
      }
      for (const [program, outcome] of outcomes) {
        entries.push({ program, round, repetition, outcome })
        if (outcome.kind !== 'passed') say(`  ${program}: ${outcome.kind}: ${outcome.words}`)
      }
      const passed = [...outcomes.values()].filter(({ kind }) => kind === 'passed')
      say(`${repetition}. ${round}: ${passed.length} of ${outcomes.size} passed`)
      await fp.prune()
    }
  }
  const names = [...together, ...alone].map(({ name }) => name).toSorted()
  return {
    passUndisturbed: names.filter((name) => !failsSometimes.has(name)),
    failUndisturbed: { ...failUndisturbed, ...Object.fromEntries(failsSometimes) },
    entries: entries.filter(({ program }) => !failsSometimes.has(program)),
  }
}

/** As often as a program that was wrong once gets the chance to be so by itself. */
const timesUndisturbed = 16

/** Whether a program complains of the same if nothing is done to it, but it is tried often. */
async function saysSoUndisturbed(fp: Forkpoint, program: Program, words: string): Promise<boolean> {
  const wanted = complaintIn(words)
  if (wanted === null) return false
  const tries = Array.from({ length: timesUndisturbed }, () => [program])
  const tried = await inParallel(tries, singlesAtOnce, (one) => runGroup(fp, 'undisturbed', one))
  return tried.some((outcomes) => {
    const outcome = outcomes.get(program.name)
    return outcome?.kind === 'wrong' && complaintIn(outcome.words) === wanted
  })
}

/** Without where it was made, and without numbers. That it did not end may have another cause each time. */
function complaintIn(words: string): string | null {
  const complaint = words.replace(/^[^:]*: /, '').replaceAll(/\d+/g, 'N')
  return complaint.startsWith('did not end') ? null : complaint
}

/** On a busy machine, a program that has passed undisturbed may still fail to start; it gets another try. */
async function runRound(
  fp: Forkpoint,
  round: RoundName,
  groups: readonly (readonly Program[])[],
): Promise<Outcomes> {
  const outcomes = await runAll(fp, round, groups, groupsAtOnce)
  const late = groups.flat().filter(({ name }) => outcomes.get(name)?.kind === 'not started')
  const again = await runAll(fp, round, grouped(late, 1), groupsAtOnce)
  for (const [name, outcome] of again) outcomes.set(name, outcome)
  return outcomes
}

interface Undisturbed {
  readonly together: readonly Program[]
  /** those that pass only without neighbours */
  readonly alone: readonly Program[]
  readonly failUndisturbed: Readonly<Record<string, string>>
}

/** Which programs pass if nothing is done. */
async function undisturbed(
  fp: Forkpoint,
  programs: readonly Program[],
  say: Say,
): Promise<Undisturbed> {
  const among = await runAll(fp, 'undisturbed', grouped(programs, groupSize), groupsAtOnce)
  const hasPassed = (outcomes: Outcomes) => (program: Program) =>
    outcomes.get(program.name)?.kind === 'passed'
  const together = programs.filter(hasPassed(among))
  const others = programs.filter((program) => !together.includes(program))
  const single = await runAll(fp, 'undisturbed', grouped(others, 1), singlesAtOnce)
  const alone = others.filter(hasPassed(single))
  say(`undisturbed: ${together.length} of ${programs.length} pass, and ${alone.length} more alone`)
  const complaints = [...single].flatMap(([name, outcome]) =>
    outcome.kind === 'passed' ? [] : [[name, outcome.words] as const],
  )
  return { together, alone, failUndisturbed: Object.fromEntries(complaints.toSorted()) }
}

async function runAll(
  fp: Forkpoint,
  round: RoundName,
  groups: readonly (readonly Program[])[],
  atOnce: number,
): Promise<Outcomes> {
  const found = await inParallel(groups, atOnce, (group) => runGroup(fp, round, group))
  return new Map(found.flatMap((each) => [...each]))
}

/** Neighbours in the alphabet want the same ports and names, so they go to different groups. */
function grouped(programs: readonly Program[], size: number): Program[][] {
  const count = Math.ceil(programs.length / size)
  const sorted = programs.toSorted((a, b) => a.name.localeCompare(b.name))
  return Array.from({ length: count }, (_, group) =>
    sorted.filter((_, index) => index % count === group),
  )
}

async function inParallel<T, R>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = []
  const rest = [...items]
  const worker = async () => {
    for (let item = rest.shift(); item !== undefined; item = rest.shift())
      results.push(await work(item))
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return results
}
