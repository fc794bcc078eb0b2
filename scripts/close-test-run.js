// Writes the closing lines of scripts/test and decides its exit code:
//   node close-test-run.js RESULTS_DIRECTORY VITEST_STATUS
// The last line counts every failure: of a test, a file, a check or the cleanup.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { matrixText } from '../test/setup/matrix.ts'

const [directory = '', vitestStatus = '1'] = process.argv.slice(2)
const nothingRan = {
  passed: 0,
  failed: 0,
  realCells: 0,
  workloads: 0,
  killPoints: 0,
  attacks: 0,
  attackRuns: 0,
  overEngine: 0,
  overLoopBack: 0,
  watching: 0,
  noticed: 0,
  copied: 0,
  wrong: 0,
  refusedByName: 0,
  conformance: null,
  skipped: [],
  secondTries: [],
  broken: [],
}

const summary = readSummary()
const problems = [
  ...failedChecks().map((name) => `static check failed: ${name}`),
  ...summary.broken.map((what) => `broken outside of a test: ${what}`),
  ...leftovers().map((what) => `left behind: ${what}`),
]
const failed = summary.failed + problems.length
const ran = summary.passed + summary.failed

console.log()
for (const problem of problems) console.log(problem)
if (ran === 0) console.log('no test ran')
if (vitestStatus !== '0' && failed === 0) console.log(`vitest ended with status ${vitestStatus}`)
for (const { test, reason } of summary.skipped) console.log(`skipped: ${test} (${reason})`)
for (const { test, failure } of summary.secondTries)
  console.log(`passed only when tried again: ${test} (${failure})`)
if (summary.conformance !== null) console.log(matrixText(summary.conformance))
console.log(`workloads branched: ${summary.workloads}`)
console.log(`kill points walked: ${summary.killPoints}`)
console.log(`attacks refused: ${summary.attacks} (${summary.attackRuns} times)`)
console.log(`undisturbed: ${summary.watching} programs, ${summary.noticed} noticed`)
console.log(
  `faithful: ${summary.copied} programs, ${summary.wrong} wrong, ${summary.refusedByName} refused by name`,
)
console.log(
  `API tests: ${summary.overEngine} over the engine, ${summary.overLoopBack} over the loop-back`,
)
console.log(`real cells: ${summary.realCells} tests`)
const skipped = summary.skipped.length > 0 ? `, ${summary.skipped.length} skipped` : ''
console.log(`Tests: ${summary.passed} passed, ${failed} failed${skipped}`)
process.exitCode = failed > 0 || ran === 0 || vitestStatus !== '0' ? 1 : 0

function readSummary() {
  const file = join(directory, 'summary.json')
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : nothingRan
}

function failedChecks() {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.failed'))
    .map((name) => name.slice(0, -'.failed'.length))
}

function leftovers() {
  const file = join(directory, 'leftovers')
  return existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
}
