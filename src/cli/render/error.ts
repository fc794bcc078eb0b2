import { BackendError, ForkpointError } from '../../model/errors.ts'
import { printable } from '../../model/printable.ts'
import type { Style } from './style.ts'
import { indent } from './text.ts'

/** What failed, the failed tool's own last words, where its log is, and what to do about it. */
export function renderError(error: unknown, style: Style): string {
  return [
    `${style.bad('forkpoint:')} ${messageOf(error)}`,
    ...(error instanceof BackendError ? toolLines(error, style) : []),
    ...remedyLines(error, style),
  ].join('\n')
}

/** Where it came from, for those who look for the mistake. */
export function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause === undefined ? '' : `\ncaused by ${stackOf(error.cause)}`
  return `${error.stack ?? error.message}${cause}`
}

function messageOf(error: unknown): string {
  if (error instanceof ForkpointError) return printable(error.message)
  const message = error instanceof Error ? error.message : String(error)
  return printable(`internal error: ${message}`)
}

function toolLines(error: BackendError, style: Style): string[] {
  const said = error.lastWords?.trimEnd().split('\n').map(printable).join('\n')
  return [
    ...(said ? [style.faint(indent(said, '  | '))] : []),
    ...(error.logPath ? [`  log: ${printable(error.logPath)}`] : []),
  ]
}

function remedyLines(error: unknown, style: Style): string[] {
  const remedy =
    error instanceof ForkpointError
      ? error.remedy
      : 'this is a bug; FORKPOINT_DEBUG=1 shows where, for a report'
  return remedy ? [`  ${style.strong('remedy:')} ${printable(remedy)}`] : []
}
