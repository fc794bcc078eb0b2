import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { plotsOf } from '../plot/plots.ts'
import type { Results } from '../results.ts'

/** Writes the plots and all samples into a directory, which is made if necessary. */
export function writeReport(dir: string, results: Results): void {
  mkdirSync(dir, { recursive: true })
  const name = results.backends === undefined ? 'results.json' : 'backends.json'
  writeFileSync(join(dir, name), resultsText(results))
  for (const { name, svg } of plotsOf(results)) writeFileSync(join(dir, `${name}.svg`), svg)
}

/** JSON with one series per line, so that people can read and compare hundreds of them. */
function resultsText(results: Results): string {
  const text = JSON.stringify(results, null, 2)
  const series = /\{\n\s+"by"[^{}]*\}/g
  return `${text.replaceAll(series, (each) => each.replaceAll(/\s*\n\s*/g, ' '))}\n`
}
