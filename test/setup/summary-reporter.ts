// Counts what scripts/test says in its closing lines, and writes it as JSON to
// the file that it names.
import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import type { Reporter, TestCase, TestModule } from 'vitest/node'
import { killPoints } from '../../src/linux/kill-points.ts'
import '../attacks/support/meta.ts'

export interface TestSummary {
  passed: number
  failed: number
  /** Tests that ran on real cells rather than on data. */
  realCells: number
  /** Tests that took a workload to several branches. */
  workloads: number
  /** Moments at which a test killed Forkpoint and the next process put everything right. */
  killPoints: number
  /** Attacks that were refused in every state and as every user; `attackRuns`: all of those together. */
  attacks: number
  attackRuns: number
  skipped: { test: string; reason: string }[]
  /** Files that broke before their tests could run, and errors outside of any test. */
  broken: string[]
}

const realCellFolders = /^test\/(cells|workloads|faults|e2e|conformance|attacks)\//

export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly { message?: string }[]): void {
    const file = process.env.FORKPOINT_TEST_SUMMARY
    if (file !== undefined) writeFileSync(file, JSON.stringify(summarize(modules, errors)))
  }
}

function summarize(
  modules: readonly TestModule[],
  errors: readonly { message?: string }[],
): TestSummary {
  const tests = modules.flatMap((module) => [...module.children.allTests()])
  const ran = tests.filter((test) => ['passed', 'failed'].includes(test.result().state))
  const passed = tests.filter((test) => test.result().state === 'passed')
  return {
    passed: passed.length,
    failed: tests.filter((test) => ['failed', 'pending'].includes(test.result().state)).length,
    realCells: ran.filter((test) => realCellFolders.test(pathOf(test.module))).length,
    workloads: passed.filter((test) => pathOf(test.module).startsWith('test/workloads/')).length,
    killPoints: walkedKillPoints(passed).length,
    attacks: passed.filter((test) => runsOf(test) > 0).length,
    attackRuns: passed.reduce((sum, test) => sum + runsOf(test), 0),
    skipped: tests
      .filter((test) => test.result().state === 'skipped')
      .map((test) => ({ test: nameOf(test), reason: reasonOf(test) })),
    broken: [
      ...modules.filter(brokeOutsideTests).map((module) => pathOf(module)),
      ...errors.map((error) => error.message?.split('\n')[0] ?? 'unknown error'),
    ],
  }
}

/** The tests of killed operations name the moment: "at snapshot:frozen leaves …". */
function walkedKillPoints(passed: readonly TestCase[]): string[] {
  const names = passed
    .filter((test) => pathOf(test.module).startsWith('test/faults/killed-'))
    .map((test) => test.name)
  return killPoints.filter((point) => names.some((name) => name.includes(`at ${point} `)))
}

function runsOf(test: TestCase): number {
  return test.meta().attackRuns ?? 0
}

function brokeOutsideTests(module: TestModule): boolean {
  if (module.errors().length > 0) return true
  return [...module.children.allSuites()].some((suite) => suite.errors().length > 0)
}

function reasonOf(test: TestCase): string {
  const result = test.result()
  return (result.state === 'skipped' && result.note) || 'no reason given'
}

function nameOf(test: TestCase): string {
  return `${pathOf(test.module)}: ${test.fullName}`
}

function pathOf(module: TestModule): string {
  return relative(process.cwd(), module.moduleId)
}
