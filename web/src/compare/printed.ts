import type { WebExecResult } from 'forkpoint/client'
import { formatMs } from '../ui/format.ts'
import type { LastCommand } from './load-branch.ts'

/** What a command printed, and how it ended, as it is shown. */
export interface Printed {
  readonly command: string
  readonly end: string
  readonly hasFailed: boolean
  readonly text: string
}

/** Of long output, the end. */
const mostShown = 20_000

export function printedBefore({ command, output }: LastCommand): Printed {
  const { exit, durationMs } = command
  return printed(command.command, exit, durationMs, output)
}

export function printedNow(command: string, result: WebExecResult): Printed {
  return printed(command, result, result.durationMs, result)
}

function printed(
  command: string,
  exit: { readonly exitCode: number | null; readonly signal: string | null } | null,
  durationMs: number | null,
  { stdout, stderr }: { readonly stdout: string; readonly stderr: string },
): Printed {
  const time = durationMs === null ? '' : `, ${formatMs(durationMs)}`
  const how = exit === null ? 'runs' : (exit.signal ?? `exit ${exit.exitCode}`)
  return {
    command,
    end: `${how}${time}`,
    hasFailed: exit !== null && exit.exitCode !== 0,
    text: [stdout, stderr].filter(Boolean).join('\n').slice(-mostShown),
  }
}

export function printedFailure(command: string, error: unknown): Printed {
  const text = error instanceof Error ? error.message : String(error)
  return { command, end: 'did not run', hasFailed: true, text }
}
