import { backendTables } from '../../bench/report/backends.ts'
import { type Comparison, comparisonsOf } from '../../bench/report/comparisons.ts'
import { type Summary, summarise } from '../../bench/report/summaries.ts'
import {
  measuredText,
  metText,
  promisedText,
  timesText,
  titles,
  valueText,
} from '../../bench/report/words.ts'
import type { Missing, PromiseResult, Results } from '../../bench/results.ts'
import { printable } from '../../model/text/printable.ts'
import type { Style } from './layout/style.ts'
import { type Column, table } from './layout/table.ts'

const measurements: readonly Column<Summary>[] = [
  { title: 'ON', cell: ({ on }) => on },
  { title: 'WHAT', cell: ({ what }) => what },
  { title: 'BY', cell: ({ by }) => titles[by] },
  { title: 'MEDIAN', cell: ({ unit, p50 }) => valueText(unit, p50) },
  { title: 'P95', cell: ({ unit, p95 }) => valueText(unit, p95) },
  { title: 'N', cell: ({ count }) => String(count) },
]

function comparisons(theirs: string, ours: string): readonly Column<Comparison>[] {
  return [
    { title: 'ON', cell: (each) => each.ours.on },
    { title: 'WHAT', cell: (each) => each.ours.what },
    { title: theirs, cell: (each) => valueText(each.theirs.unit, each.theirs.p50) },
    { title: ours, cell: (each) => valueText(each.ours.unit, each.ours.p50) },
    { title: 'RATIO', cell: ({ times }) => timesText(times) },
  ]
}

const promises: readonly Column<PromiseResult>[] = [
  { title: 'WHAT', cell: ({ what }) => what },
  { title: 'PROMISED', cell: promisedText },
  { title: 'MEASURED', cell: measuredText },
  {
    title: '',
    cell: metText,
    paint: (text, { met }, style) => (met ? style.good(text) : style.bad(text)),
  },
]

/** Every measurement and comparison, then the promises and whether they were kept, then what is missing. */
export function renderBench(results: Results, style: Style): string {
  const summaries = summarise(results)
  const onExt4 = comparisonsOf(summaries, 'ext4')
  const before = comparisonsOf(summaries, 'before')
  const compared = backendTables(results)
  return [
    ...compared.map(({ on, heads, rows }) => `${on}\n${table(backendColumns(heads), rows, style)}`),
    ...(compared.length > 0 ? [] : [table(measurements, summaries, style)]),
    ...(onExt4.length > 0 ? [table(comparisons('EXT4', 'FORKPOINT'), onExt4, style)] : []),
    ...(before.length > 0 ? [table(comparisons('BEFORE', 'AFTER'), before, style)] : []),
    ...(results.promises.length > 0 ? [table(promises, results.promises, style)] : []),
    ...(results.missing.length > 0 ? [results.missing.map(missed(style)).join('\n')] : []),
    ...(results.failed.length > 0 ? [results.failed.map(failed(style)).join('\n')] : []),
  ].join('\n\n')
}

function backendColumns(heads: readonly string[]): Column<readonly string[]>[] {
  return heads.map((head, i) => ({
    title: head === '' ? 'BACKEND' : head.toUpperCase(),
    cell: (row) => row[i] ?? '',
  }))
}

function failed(style: Style) {
  return ({ what, why }: Missing) => `${style.bad('failed')}  ${what}: ${printable(why)}`
}

function missed(style: Style) {
  return ({ what, why }: Missing) => `${style.doubtful('not measured')}  ${what}: ${printable(why)}`
}
