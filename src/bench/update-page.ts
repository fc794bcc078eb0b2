import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withResults } from './report/markdown.ts'

/** Puts the results of `forkpoint bench --plot docs/benchmarks` into the page: `npm run bench:page`. */

const docs = join(import.meta.dirname, '../../docs')
const page = join(docs, 'benchmarks.md')
const results = JSON.parse(readFileSync(join(docs, 'benchmarks/results.json'), 'utf8'))
writeFileSync(page, withResults(readFileSync(page, 'utf8'), results))
