import { type Summary, summarise } from '../../bench/report/summaries.ts'
import { measuredText, metText, promisedText, titles, valueText } from '../../bench/report/words.ts'
import type { Missing, Results, Verdict } from '../../bench/results.ts'
import { printable } from '../../model/printable.ts'
import type { Style } from './style.ts'
import { type Column, table } from './table.ts'

const measurements: readonly Column<Summary>[] = [
  { title: 'ON', cell: ({ on }) => on },
  { title: 'WHAT', cell: ({ what }) => what },
  { title: 'BY', cell: ({ by }) => titles[by] },
  { title: 'MEDIAN', cell: ({ unit, p50 }) => valueText(unit, p50) },
  { title: 'P95', cell: ({ unit, p95 }) => valueText(unit, p95) },
  { title: 'N', cell: ({ count }) => String(count) },
]

const promises: readonly Column<Verdict>[] = [
  { title: 'WHAT', cell: ({ what }) => what },
  { title: 'PROMISED', cell: promisedText },
  { title: 'MEASURED', cell: measuredText },
  {
    title: '',
    cell: metText,
    paint: (text, { met }, style) => (met ? style.good(text) : style.bad(text)),
  },
]

/** Every measurement, then what was promised and whether it was kept, then what is missing. */
export function renderBench(results: Results, style: Style): string {
  return [
    table(measurements, summarise(results), style),
    ...(results.promises.length > 0 ? [table(promises, results.promises, style)] : []),
    ...(results.missing.length > 0 ? [results.missing.map(missed(style)).join('\n')] : []),
    ...(results.failed.length > 0 ? [results.failed.map(failed(style)).join('\n')] : []),
  ].join('\n\n')
}

function failed(style: Style) {
  return ({ what, why }: Missing) => `${style.bad('failed')}  ${what}: ${printable(why)}`
}

function missed(style: Style) {
  return ({ what, why }: Missing) => `${style.doubtful('not measured')}  ${what}: ${printable(why)}`
}
