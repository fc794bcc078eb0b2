import type { Check, Doctor } from '../../index.ts'
import { printable } from '../../model/printable.ts'
import type { Style } from './style.ts'
import { width } from './text.ts'

/** A mark, a name and what was found, a line each; a remedy on its own line below. */
export function renderChecks({ ok, checks }: Doctor, style: Style): string {
  const widest = Math.max(0, ...checks.map(({ name }) => width(name)))
  const lines = checks.flatMap((check) => renderCheck(check, widest, style))
  return [...lines, '', verdict(ok, style)].join('\n')
}

function renderCheck({ name, status, found, remedy }: Check, widest: number, style: Style) {
  const mark = paints[status](style)(status.padEnd(4))
  const line = `${mark}  ${printable(name).padEnd(widest)}  ${printable(found)}`.trimEnd()
  return remedy ? [line, `      ${style.strong('remedy:')} ${printable(remedy)}`] : [line]
}

const paints: Record<Check['status'], (style: Style) => (text: string) => string> = {
  ok: (style) => style.good,
  warn: (style) => style.doubtful,
  fail: (style) => style.bad,
}

function verdict(ok: boolean, style: Style): string {
  if (ok) return style.good('environments can be made on this machine')
  return style.bad('environments cannot be made on this machine yet')
}
