import { BackendError, ForkpointError } from '../../model/errors.ts'
import { printable } from '../../model/text/printable.ts'
import type { Style } from './layout/style.ts'
import { indent } from './layout/text.ts'

/** What failed, the last output of the failed tool, where its log is, and what to do. */
export function renderError(error: unknown, style: Style): string {
  return [
    `${style.bad('forkpoint:')} ${messageOf(error)}`,
    ...(error instanceof BackendError ? toolLines(error, style) : []),
    ...remedyLines(error, style),
  ].join('\n')
}

/** The stack, for debugging. */
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
      : 'this is a bug in Forkpoint; run it again with FORKPOINT_DEBUG=1 and report what it prints'
  return remedy ? [`  ${style.strong('remedy:')} ${printable(remedy)}`] : []
}
