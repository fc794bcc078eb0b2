// What tests record for the closing lines of a run: only what really happened, in the test where it did.
import { type TaskMeta, TestRunner } from 'vitest'
import type { ConformanceNote } from '../setup/matrix.ts'

declare module 'vitest' {
  interface TaskMeta {
    /** attacks that were made in this test and refused */
    attackRuns?: number
    /** kill points at which a process of this test was really killed */
    killedAt?: string[]
    /** workloads that this test ran in several branches */
    workloads?: number
    /** programs that watched for a disturbance in this test, and whether each saw none */
    undisturbed?: Record<string, boolean>
    /** programs that were asked in copies in this test, and whether each found nothing wrong */
    copied?: Record<string, boolean>
    /** programs whose snapshot was refused in this test with a name for what is in the way */
    refusedByName?: string[]
    /** the case and the backend of the conformance suite, and what happened */
    conformance?: ConformanceNote
    /** an environment was alive during this test, or it made one */
    onRealCell?: boolean
    /** why this machine cannot run it */
    whySkipped?: string
  }
}

export function noteAttack(): void {
  note((meta) => {
    meta.attackRuns = (meta.attackRuns ?? 0) + 1
  })
}

/** A process that should die at `point` has ended. */
export function noteKill(point: string | undefined, signal: NodeJS.Signals | null): void {
  if (point === undefined || signal !== 'SIGKILL') return
  note((meta) => {
    meta.killedAt = [...(meta.killedAt ?? []), point]
  })
}

export function noteWorkload(): void {
  note((meta) => {
    meta.workloads = (meta.workloads ?? 0) + 1
  })
}

export function noteWatching(program: string, undisturbed: boolean): void {
  note((meta) => {
    meta.undisturbed = { ...meta.undisturbed, [program]: undisturbed }
  })
}

/** The same program may be asked in several copies. */
export function noteCopied(program: string, faithful: boolean): void {
  note((meta) => {
    meta.copied = { ...meta.copied, [program]: faithful && meta.copied?.[program] !== false }
  })
}

export function noteRefusal(program: string): void {
  note((meta) => {
    meta.refusedByName = [...(meta.refusedByName ?? []), program]
  })
}

export function noteConformance(conformance: ConformanceNote): void {
  note((meta) => {
    meta.conformance = conformance
  })
}

function note(change: (meta: TaskMeta) => void): void {
  const test = TestRunner.getCurrentTest()
  if (test !== undefined) change(test.meta)
}

/** Options of a suite or a test that this machine may be unable to run; the reason is printed. */
export function unless(why: string | null | undefined): { skip?: boolean; meta?: TaskMeta } {
  return why === null || why === undefined ? {} : { skip: true, meta: { whySkipped: why } }
}
