import { formatBytes, formatDuration } from '../../model/values/quantities.ts'
import {
  type By,
  type GroupName,
  type Missing,
  type PromiseResult,
  peerNames,
  type Results,
} from '../results.ts'
import { backendTables } from './backends.ts'
import { comparisonsOf } from './comparisons.ts'
import { type Summary, summarise } from './summaries.ts'
import { measuredText, metText, promisedText, timesText, titles, valueText } from './words.ts'

const begin = '<!-- results: written by npm run bench:page -->'
const end = '<!-- end of results -->'
const beginBackends = '<!-- backends: written by npm run bench:page -->'
const endBackends = '<!-- end of backends -->'

/** The page with these results instead of the old ones. */
export function withResults(page: string, results: Results): string {
  return between(page, [begin, end], renderResults(results))
}

/** The page with this comparison of backends instead of the old one. */
export function withBackends(page: string, results: Results): string {
  const tables = backendTables(results).map(({ on, heads, rows }) =>
    section(`On ${on}`, table(heads, rows)),
  )
  const parts = [
    machineText(results),
    ...tables,
    section('Promises of the comparison', promisesTable(results.promises)),
    section('Failed in the comparison', missingTable(results.failed)),
  ]
  return between(page, [beginBackends, endBackends], parts.filter(Boolean).join('\n\n'))
}

function between(page: string, [from, to]: readonly [string, string], text: string): string {
  const [before, rest] = page.split(from)
  const after = rest?.split(to)[1]
  if (before === undefined || after === undefined) throw new Error(`no "${from}" … "${to}"`)
  return `${before}${from}\n\n${text}\n\n${to}${after}`
}

function renderResults(results: Results): string {
  const summaries = summarise(results)
  const of = (name: GroupName) => summaries.filter(({ group }) => group === name)
  const operations = of('operations')
  const sections = [
    machineText(results),
    section('Promises', promisesTable(results.promises)),
    section('Forkpoint, medians by workload', operationsTable(operations)),
    section('The same with other tools, medians', peersTable(operations)),
    section('Writing inside, against ext4', comparisonsTable(of('writing'), 'ext4')),
    section('Pause seen inside', pauseTable(of('pause'))),
    section('Memory of a fork', memoryTable(of('memory'))),
    section('Before and after', comparisonsTable(summaries, 'before')),
    section('Size, fan-out, chain and soak', restTable(summaries)),
    section('Not measured', missingTable(results.missing)),
    section('Failed', missingTable(results.failed)),
  ]
  return sections.filter(Boolean).join('\n\n')
}

function section(title: string, table: string): string {
  return table === '' ? '' : `### ${title}\n\n${table}`
}

function machineText({ machine, startedAt, tookMs, rounds, against }: Results): string {
  const { cpus, cpuModel, memoryBytes, kernel, versions } = machine
  const tools = Object.entries(versions).map(([name, version]) =>
    version === null ? `no ${name}` : named(name, version),
  )
  const when = `${startedAt.slice(0, 10)}, ${rounds} rounds, ${formatDuration(tookMs)} in all`
  const what = `${cpus} × ${cpuModel}, ${formatBytes(memoryBytes)}, Linux ${kernel}`
  const turns = against === undefined ? '' : ` Took turns with ${against}.`
  return `${when}. ${what}; ${tools.join(', ')}.${turns}`
}

function named(name: string, version: string): string {
  const [number = version] = /v?\d[\w.+~-]*/.exec(version) ?? []
  return `${name} ${number.replace(/^v/, '')}`
}

function promisesTable(promises: readonly PromiseResult[]): string {
  const rows = promises.map((each) => [
    each.what,
    promisedText(each),
    measuredText(each),
    metText(each),
  ])
  return table(['what', 'promised', 'measured', ''], rows)
}

/** One row per operation, one column per workload. */
function operationsTable(summaries: readonly Summary[]): string {
  const ours = summaries.filter(({ by }) => by === 'forkpoint')
  const workloads = unique(ours.map(({ on }) => on))
  const rows = unique(ours.map(({ what }) => what)).map((what) => [
    what,
    ...workloads.map((on) => cell(ours, (each) => each.what === what && each.on === on)),
  ])
  return table(['', ...workloads], rows)
}

/** One row per tool, with columns for keeping a state and returning to it. */
function peersTable(summaries: readonly Summary[]): string {
  const peers = summaries.filter(({ by }) => peerNames.some((peer) => peer === by))
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

/** One row per workload, one column per measurement. */
function pauseTable(summaries: readonly Summary[]): string {
  const ours = summaries.filter(({ by }) => by === 'forkpoint')
  const heads = unique(ours.map(({ what }) => what))
  const rows = unique(ours.map(({ on }) => on)).map((on) => [
    on,
    ...heads.map((what) => cell(ours, (each) => each.on === on && each.what === what)),
  ])
  return table(['', ...heads], rows)
}

/** One row per workload. All measurements but two are reasons. */
function memoryTable(summaries: readonly Summary[]): string {
  const amounts = ['shared', 'copied']
  const rows = unique(summaries.map(({ on }) => on)).map((on) => {
    const all = summaries.filter((each) => each.on === on)
    const reasons = all.filter(({ what }) => !amounts.includes(what))
    const why = reasons.map(({ what, unit, p50 }) => `${valueText(unit, p50)} ${what}`).join('; ')
    return [on, ...amounts.map((what) => cell(all, (each) => each.what === what)), why]
  })
  return table(['', ...amounts, 'why'], rows)
}

function comparisonsTable(summaries: readonly Summary[], by: 'ext4' | 'before'): string {
  const rows = comparisonsOf(summaries, by).map(({ theirs, ours, times }) => [
    ours.on,
    ours.what,
    valueText(theirs.unit, theirs.p50),
    valueText(ours.unit, ours.p50),
    timesText(times),
  ])
  const heads = by === 'ext4' ? ['ext4', 'Forkpoint'] : ['before', 'after']
  return table(['on', 'what', ...heads, 'ratio'], rows)
}

/** Groups without a table of their own. */
const rest: readonly GroupName[] = ['size', 'fanout', 'chain', 'soak']

function restTable(summaries: readonly Summary[]): string {
  const rows = summaries
    .filter(({ group }) => rest.includes(group))
    .map(({ group, what, by, unit, p50, p95, count }) => [
      group,
      titles[by],
      what,
      valueText(unit, p50),
      valueText(unit, p95),
      String(count),
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
