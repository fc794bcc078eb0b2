import { formatBytes, formatDuration } from '../../model/quantities.ts'
import type { By, Missing, Results, Verdict } from '../results.ts'
import { type Summary, summarise } from './summaries.ts'
import { measuredText, metText, promisedText, titles, valueText } from './words.ts'

const begin = '<!-- results: written by npm run bench:page -->'
const end = '<!-- end of results -->'

/** The page with these results in place of those that it showed. */
export function withResults(page: string, results: Results): string {
  const [before, rest] = page.split(begin)
  const after = rest?.split(end)[1]
  if (before === undefined || after === undefined) throw new Error(`no "${begin}" … "${end}"`)
  return `${before}${begin}\n\n${renderResults(results)}\n\n${end}${after}`
}

function renderResults(results: Results): string {
  const summaries = summarise(results)
  const operations = summaries.filter(({ group }) => group === 'operations')
  const sections = [
    machineText(results),
    section('Promises', promisesTable(results.promises)),
    section('Forkpoint, medians by workload', operationsTable(operations)),
    section('The same with other tools, medians', peersTable(operations)),
    section('Size, fan-out, chain and soak', restTable(summaries)),
    section('Not measured', missingTable(results.missing)),
    section('Failed', missingTable(results.failed)),
  ]
  return sections.filter(Boolean).join('\n\n')
}

function section(title: string, table: string): string {
  return table === '' ? '' : `### ${title}\n\n${table}`
}

function machineText({ machine, startedAt, tookMs, rounds }: Results): string {
  const { cpus, cpuModel, memoryBytes, kernel, versions } = machine
  const tools = Object.entries(versions).map(([name, version]) =>
    version === null ? `no ${name}` : named(name, version),
  )
  const when = `${startedAt.slice(0, 10)}, ${rounds} rounds, ${formatDuration(tookMs)} in all`
  const what = `${cpus} × ${cpuModel}, ${formatBytes(memoryBytes)}, Linux ${kernel}`
  return `${when}. ${what}; ${tools.join(', ')}.`
}

function named(name: string, version: string): string {
  const [number = version] = /v?\d[\w.+~-]*/.exec(version) ?? []
  return `${name} ${number.replace(/^v/, '')}`
}

function promisesTable(promises: readonly Verdict[]): string {
  const rows = promises.map((verdict) => [
    verdict.what,
    promisedText(verdict),
    measuredText(verdict),
    metText(verdict),
  ])
  return table(['what', 'promised', 'measured', ''], rows)
}

/** A row an operation, a column a workload. */
function operationsTable(summaries: readonly Summary[]): string {
  const ours = summaries.filter(({ by }) => by === 'forkpoint')
  const workloads = unique(ours.map(({ on }) => on))
  const rows = unique(ours.map(({ what }) => what)).map((what) => [
    what,
    ...workloads.map((on) => cell(ours, (each) => each.what === what && each.on === on)),
  ])
  return table(['', ...workloads], rows)
}

/** A row a tool, columns for keeping a state and returning to it. */
function peersTable(summaries: readonly Summary[]): string {
  const peers = summaries.filter(({ by }) => by !== 'forkpoint')
  const workloads = unique(peers.map(({ on }) => on))
  const steps = workloads.flatMap((on) => ['snapshot', 'restore'].map((what) => ({ on, what })))
  const row = (by: By, name: (what: string) => string) =>
    steps.map(({ on, what }) =>
      cell(summaries, (each) => each.by === by && each.on === on && each.what === name(what)),
    )
  if (peers.length === 0) return ''
  const ours = (what: string) => (what === 'snapshot' ? 'first snapshot' : what)
  const rows = unique(peers.map(({ by }) => by)).map((by) => [
    titles[by],
    ...row(by, (what) => what),
  ])
  const heads = steps.map(({ on, what }) => `${on}: ${what}`)
  return table(['', ...heads], [[titles.forkpoint, ...row('forkpoint', ours)], ...rows])
}

function restTable(summaries: readonly Summary[]): string {
  const rows = summaries
    .filter(({ group }) => group !== 'operations')
    .map(({ group, what, by, unit, p50, p95, count }) => [
      ...[group, titles[by], what, valueText(unit, p50), valueText(unit, p95), String(count)],
    ])
  return table(['group', 'by', 'what', 'median', 'p95', 'n'], rows)
}

function missingTable(missing: readonly Missing[]): string {
  return table(
    ['what', 'why'],
    missing.map(({ what, why }) => [what, why]),
  )
}

function cell(summaries: readonly Summary[], matches: (summary: Summary) => boolean): string {
  const found = summaries.find(matches)
  return found === undefined ? '' : valueText(found.unit, found.p50)
}

function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return ''
  const line = (cells: readonly string[]) =>
    `| ${cells.map((text) => text.replaceAll(/[|\n]/g, ' ')).join(' | ')} |`
  return [line(heads), `|${'---|'.repeat(heads.length)}`, ...rows.map(line)].join('\n')
}

function unique<T>(all: readonly T[]): T[] {
  return [...new Set(all)]
}
