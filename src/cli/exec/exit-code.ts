import { signalExitCode } from '../interrupts.ts'

/** The same as that of `timeout`. */
const timedOutCode = 124

export interface Ended {
  /** null if a signal ended it */
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  readonly timedOut?: boolean
}

/** The exit code that a shell would report for a command that ended like this. */
export function exitCodeOfCommand(ended: Ended): number {
  if (ended.timedOut) return timedOutCode
  if (ended.exitCode !== null) return ended.exitCode
  return ended.signal === null ? 1 : signalExitCode(ended.signal)
}
