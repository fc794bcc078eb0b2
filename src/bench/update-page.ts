import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { withBackends, withResults } from './report/markdown.ts'

/** Puts the results of `forkpoint bench --plot docs/benchmarks` and `scripts/bench-backends` into the page: `npm run bench:page`. */

const docs = join(import.meta.dirname, '../../docs')
const page = join(docs, 'benchmarks.md')
const read = (name: string) => JSON.parse(readFileSync(join(docs, 'benchmarks', name), 'utf8'))
const text = withResults(readFileSync(page, 'utf8'), read('results.json'))
writeFileSync(page, withBackends(text, read('backends.json')))
