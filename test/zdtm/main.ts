// Runs CRIU's own test programs in environments that are branched:
//   node main.ts [--only NAME]... [--repeat N]
// Ends with 1 if one of them was wrong or lost. A run of all programs writes docs/fidelity.md.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import setup from '../setup/private-home.ts'
import { TestHome } from '../support/test-home.ts'
import { countOf, type Results } from './outcomes.ts'
import { summaryOf, withResults } from './page.ts'
import { type Program, readSuite } from './programs.ts'
import { runSuite } from './run-suite.ts'

const docs = join(import.meta.dirname, '../../docs')

const { only, repetitions } = parsed()
const teardown = await setup()
const home = new TestHome('zdtm', { log: 'error' })
// Some programs keep a processor busy until they are told to end.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void end(130))
try {
  const results = await run()
  report(results)
  if (only.length === 0) write(results)
} finally {
  await end()
}

async function end(status?: number): Promise<void> {
  await home[Symbol.asyncDispose]()
  await teardown()
  if (status !== undefined) process.exit(status)
}

function parsed(): { only: readonly string[]; repetitions: number } {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', multiple: true, default: [] },
      repeat: { type: 'string', default: '1' },
    },
  })
  const repetitions = Number(values.repeat)
  const isCount = Number.isSafeInteger(repetitions) && repetitions > 0
  if (!isCount) throw new Error(`--repeat ${values.repeat} is not a count; give a whole number`)
  return { only: values.only, repetitions }
}

async function run(): Promise<Results> {
  const suite = readSuite(process.env.FORKPOINT_RUNTIME ?? '')
  const programs = chosen(suite.programs)
  const fp = await home.open()
  const found = await runSuite(fp, programs, repetitions, console.log)
  return { criu: suite.version, built: programs.length, repetitions, ...found }
}

function chosen(programs: readonly Program[]): readonly Program[] {
  const unknown = only.filter((wanted) => !programs.some(({ name }) => name === wanted))
  if (unknown.length > 0) throw new Error(`CRIU has no test program ${unknown.join(', ')}`)
  return only.length === 0 ? programs : programs.filter(({ name }) => only.includes(name))
}

function report(results: Results): void {
  console.log(summaryOf(results))
  const wrong = countOf(results, 'wrong')
  const lost = countOf(results, 'lost')
  const unnamed = results.entries.filter(
    ({ outcome }) => outcome.kind === 'refused' && !outcome.isNamed,
  )
  console.log(`zdtm: ${wrong} wrong, ${lost} lost, ${unnamed.length} refusals without a name`)
  process.exitCode = wrong + lost + unnamed.length > 0 ? 1 : 0
}

/** What passed is not written: it follows from what did not. */
function write(results: Results): void {
  const entries = results.entries.filter(({ outcome }) => outcome.kind !== 'passed')
  const kept = { ...results, entries }
  mkdirSync(join(docs, 'fidelity'), { recursive: true })
  writeFileSync(join(docs, 'fidelity/results.json'), `${JSON.stringify(kept, null, 2)}\n`)
  const page = join(docs, 'fidelity.md')
  writeFileSync(page, withResults(readFileSync(page, 'utf8'), kept))
}
