import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { plotsOf } from '../plot/plots.ts'
import type { Results } from '../results.ts'

/** Writes the plots and all samples into a directory, which is made if need be. */
export function writeReport(dir: string, results: Results): void {
  mkdirSync(dir, { recursive: true })
  writeFileSync(join(dir, 'results.json'), resultsText(results))
  for (const { name, svg } of plotsOf(results)) writeFileSync(join(dir, `${name}.svg`), svg)
}

/** JSON with a series a line: hundreds of them are to be read and compared by people, too. */
function resultsText(results: Results): string {
  const text = JSON.stringify(results, null, 2)
  const series = /\{\n\s+"by"[^{}]*\}/g
  return `${text.replaceAll(series, (each) => each.replaceAll(/\s*\n\s*/g, ' '))}\n`
}
