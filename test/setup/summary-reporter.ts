// Counts what scripts/test prints in its closing lines, and writes it as JSON to the file that it
// names. Everything is counted from what passed tests recorded about themselves (test/support/evidence.ts).
import { writeFileSync } from 'node:fs'
import { relative } from 'node:path'
import type { Reporter, TestCase, TestModule, TestSuite, Vitest } from 'vitest/node'
import '../support/evidence.ts'
import { type ConformanceNote, type Matrix, matrixOf } from './matrix.ts'

export interface TestSummary {
  passed: number
  failed: number
  /** Tests that ran while an environment was alive, or made one. */
  realCells: number
  /** Workloads that ran in several branches. */
  workloads: number
  /** Different moments at which a process was killed, and the next one recovered. */
  killPoints: number
  /** Tests in which attacks were made and refused; `attackRuns`: those attacks. */
  attacks: number
  attackRuns: number
  /** Tests of the public API that passed over each implementation of `Control`: the same files. */
  overEngine: number
  overLoopBack: number
  /** Programs that watched for a disturbance; `noticed`: those that saw one, in whatever test. */
  watching: number
  noticed: number
  /** Programs that were asked in copies; `wrong`: those that found something wrong in whatever test. */
  copied: number
  wrong: number
  /** Programs whose snapshot is refused, with a name for what is in the way. */
  refusedByName: number
  /** null if the conformance suite did not run */
  conformance: Matrix | null
  skipped: { test: string; reason: string }[]
  /** Tests that passed only when they were run again, and how they failed first. */
  secondTries: { test: string; failure: string }[]
  /** Files that broke before their tests could run, and errors outside of any test. */
  broken: string[]
}

export default class SummaryReporter implements Reporter {
  /** With `-t`, vitest skips what does not match. */
  #filter: string | undefined

  onInit(vitest: Vitest): void {
    const pattern = vitest.config.testNamePattern
    this.#filter = pattern && `its name does not match ${pattern}`
  }

  onTestRunEnd(modules: readonly TestModule[], errors: readonly { message?: string }[]): void {
    const file = process.env.FORKPOINT_TEST_SUMMARY
    if (file === undefined) return
    writeFileSync(file, JSON.stringify(summarize(modules, errors, this.#filter)))
  }
}

function summarize(
  modules: readonly TestModule[],
  errors: readonly { message?: string }[],
  filter: string | undefined,
): TestSummary {
  const tests = modules.flatMap((module) => [...module.children.allTests()])
  const skipped = tests
    .filter((test) => test.result().state === 'skipped')
    .map((test) => ({ test: nameOf(test), reason: reasonOf(test) ?? filter }))
  const looped = new Set(
    modules.filter(({ project }) => project.name === 'loop-back').map((module) => pathOf(module)),
  )
  const passed = tests.filter((test) => test.result().state === 'passed')
  return {
    passed: passed.length,
    failed: tests.filter((test) => ['failed', 'pending'].includes(test.result().state)).length,
    realCells: passed.filter((test) => test.meta().onRealCell).length,
    workloads: sum(passed.map((test) => test.meta().workloads ?? 0)),
    killPoints: new Set(passed.flatMap((test) => test.meta().killedAt ?? [])).size,
    attacks: passed.filter((test) => runsOf(test) > 0).length,
    attackRuns: sum(passed.map(runsOf)),
    overEngine: passed.filter((test) => isOver('engine', test, looped)).length,
    overLoopBack: passed.filter((test) => isOver('loop-back', test, looped)).length,
    ...watchersOf(tests),
    ...copiesOf(tests),
    refusedByName: new Set(passed.flatMap((test) => test.meta().refusedByName ?? [])).size,
    conformance: conformanceOf(tests),
    skipped: skipped.map(({ test, reason = 'no reason given' }) => ({ test, reason })),
    secondTries: passed.filter((test) => test.diagnostic()?.flaky).map(secondTryOf),
    broken: [
      ...modules.filter(brokeOutsideTests).map((module) => pathOf(module)),
      ...skipped
        .filter(({ reason }) => reason === undefined)
        .map(({ test }) => `${test} was skipped without a reason`),
      ...errors.map((error) => error.message?.split('\n')[0] ?? 'unknown error'),
    ],
  }
}

/** Counted in failed tests, too: a test fails because a program noticed something. */
function watchersOf(tests: readonly TestCase[]): Pick<TestSummary, 'watching' | 'noticed'> {
  const seen = tests.flatMap((test) => Object.entries(test.meta().undisturbed ?? {}))
  const noticed = seen.filter(([, undisturbed]) => !undisturbed)
  return { watching: new Set(seen.map(nameIn)).size, noticed: new Set(noticed.map(nameIn)).size }
}

/** Counted in failed tests, too, for the same reason. */
function copiesOf(tests: readonly TestCase[]): Pick<TestSummary, 'copied' | 'wrong'> {
  const asked = tests.flatMap((test) => Object.entries(test.meta().copied ?? {}))
  const wrong = asked.filter(([, faithful]) => !faithful)
  return { copied: new Set(asked.map(nameIn)).size, wrong: new Set(wrong.map(nameIn)).size }
}

/** A skipped backend is in the matrix, with the reason. With `-t`, cases that were left out are not. */
function conformanceOf(tests: readonly TestCase[]): Matrix | null {
  const notes: ConformanceNote[] = []
  const skipped: { backend: string; why: string }[] = []
  for (const test of tests) {
    const note = test.meta().conformance
    if (note === undefined) continue
    const { state } = test.result()
    const why = reasonOf(test)
    if (state === 'skipped' && why !== undefined) skipped.push({ backend: note.backend, why })
    if (state === 'passed' || state === 'skipped') notes.push(note)
    else notes.push({ ...note, outcome: 'FAILED' })
  }
  return matrixOf(notes, skipped)
}

function secondTryOf(test: TestCase): TestSummary['secondTries'][number] {
  const [first] = test.result().errors ?? []
  return { test: nameOf(test), failure: first?.message.split('\n')[0] ?? 'no error is known' }
}

const nameIn = ([name]: [string, boolean]) => name

/** Whether this is a test of the API, that is, of a file that ran over the loop-back. */
function isOver(project: string, test: TestCase, looped: ReadonlySet<string>): boolean {
  return test.project.name === project && looped.has(pathOf(test.module))
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

function runsOf(test: TestCase): number {
  return test.meta().attackRuns ?? 0
}

function brokeOutsideTests(module: TestModule): boolean {
  if (module.errors().length > 0) return true
  return [...module.children.allSuites()].some((suite) => suite.errors().length > 0)
}

/** As given by the test, or by the suite that was skipped with all its tests. */
function reasonOf(test: TestCase): string | undefined {
  const result = test.result()
  if (result.state === 'skipped' && result.note) return result.note
  let level: TestCase | TestSuite | TestModule = test
  while (level.type !== 'module') {
    const why = level.meta().whySkipped
    if (why !== undefined) return why
    if (level.type === 'suite' && level.errors().length > 0) return 'its suite failed to start'
    level = level.parent
  }
  return undefined
}

function nameOf(test: TestCase): string {
  return `${pathOf(test.module)}: ${test.fullName}`
}

function pathOf(module: TestModule): string {
  return relative(process.cwd(), module.moduleId)
}
