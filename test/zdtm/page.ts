// The tables of docs/fidelity.md, made of what a run has found.
import { type Kind, type Outcome, type Results, worst } from './outcomes.ts'
import { copyingRounds, type RoundName } from './rounds.ts'

const begin = '<!-- zdtm: written by npm run test:zdtm -->'
const end = '<!-- end of zdtm -->'

const kinds: readonly Kind[] = ['passed', 'refused', 'told', 'wrong', 'lost', 'not started']

/** The page with the tables of this run instead of the old ones. Null: there was no run of the whole suite yet. */
export function withResults(page: string, results: Results | null): string {
  const [before, rest] = page.split(begin)
  const after = rest?.split(end)[1]
  if (before === undefined || after === undefined) throw new Error(`no "${begin}" … "${end}"`)
  const parts =
    results === null
      ? ['No run of the whole suite has been recorded yet.']
      : [summaryOf(results), countsOf(results), causesOf(results)]
  return `${before}${begin}\n\n${parts.join('\n\n')}\n\n${end}${after}`
}

/** One sentence, also for the closing line of a run. */
export function summaryOf(results: Results): string {
  const { criu, built, passUndisturbed, repetitions } = results
  const faultless = passUndisturbed.filter(
    (program) => outcomeOf(results, program).kind === 'passed',
  )
  const share = ((100 * faultless.length) / Math.max(passUndisturbed.length, 1)).toFixed(1)
  const times = repetitions === 1 ? 'once' : `${repetitions} times`
  return (
    `CRIU ${criu}: ${built} programs, ${passUndisturbed.length} of which pass undisturbed. ` +
    `${faultless.length} of these (${share} %) pass in all four rounds, ${times}.`
  )
}

/** The worst that happened to a program, in any round or in one. */
function outcomeOf({ entries }: Results, program: string, round?: RoundName): Outcome {
  const those = entries.filter(
    (entry) => entry.program === program && (round === undefined || entry.round === round),
  )
  return worst(those.map(({ outcome }) => outcome))
}

function countsOf(results: Results): string {
  const rows = copyingRounds.map((round) => {
    const outcomes = results.passUndisturbed.map((program) => outcomeOf(results, program, round))
    return [round, ...kinds.map((kind) => String(outcomes.filter((o) => o.kind === kind).length))]
  })
  return table(['round', ...kinds], rows)
}

function causesOf(results: Results): string {
  const causes = new Map<
    string,
    { kind: Kind; cause: string; programs: Set<string>; rounds: Set<string> }
  >()
  for (const { program, round, outcome } of results.entries) {
    if (outcome.kind === 'passed') continue
    const cause = causeIn(outcome.words)
    const key = `${outcome.kind} ${cause}`
    const group = causes.get(key) ?? {
      kind: outcome.kind,
      cause,
      programs: new Set(),
      rounds: new Set(),
    }
    group.programs.add(program)
    group.rounds.add(round)
    causes.set(key, group)
  }
  if (causes.size === 0) return 'Nothing was refused, wrong or lost.'
  const order = [...causes.values()].toSorted(
    (a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind) || b.programs.size - a.programs.size,
  )
  const rows = order.map(({ kind, cause, programs, rounds }) => [
    kind,
    escaped(cause),
    [...programs]
      .toSorted()
      .map((name) => `\`${name}\``)
      .join(', '),
    rounds.size === copyingRounds.length ? 'all' : [...rounds].join(', '),
  ])
  return table(['', 'what it says', 'programs', 'rounds'], rows)
}

/** Without what differs from one process and round to the next: its command line, its numbers, and where it was asked. */
function causeIn(words: string): string {
  return words
    .replace(/^cannot capture .*? \(pid \d+ inside\): /, '')
    .replace(/(^|; )(original|fork|fork of the third|resumed|restored): /, '$1')
    .replaceAll(/\((pid )?\d+( inside)?\)/g, '($1…$2)')
    .replace(/\b0x[0-9a-f]+\b/g, '0x…')
    .replaceAll(/\b\d{3,}\b/g, '…')
    .replaceAll(/\s+/g, ' ')
    .trim()
}

function escaped(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '\\<').replaceAll('`', "'")
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}
