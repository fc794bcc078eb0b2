import type { FailureLog } from '../../index.ts'
import { printable } from '../../model/text/printable.ts'
import { formatAge } from '../../model/values/quantities.ts'
import type { Style } from './layout/style.ts'

/** The newest log in full, and the names of the others. */
export function renderFailureLogs(
  [newest, ...others]: readonly FailureLog[],
  nowMs: number,
  style: Style,
): string {
  if (newest === undefined) return style.faint('no log of a failure is kept')
  const rest = others.map(({ name, at }) => style.faint(`${name}, ${formatAge(at, nowMs)} ago`))
  return [
    style.strong(`${newest.name}, ${formatAge(newest.at, nowMs)} ago`),
    newest.text.trimEnd().split('\n').map(printable).join('\n'),
    ...(rest.length === 0 ? [] : ['', 'older:', ...rest]),
  ].join('\n')
}
