import type { Check, Doctor } from '../../index.ts'
import { printable } from '../../model/text/printable.ts'
import type { Style } from './layout/style.ts'
import { width } from './layout/text.ts'

/** One line per check: a mark, a name and what was found; a remedy on its own line below. */
export function renderChecks(doctor: Doctor, style: Style): string {
  const { checks } = doctor
  const widest = Math.max(0, ...checks.map(({ name }) => width(name)))
  const lines = checks.flatMap((check) => renderCheck(check, widest, style))
  return [...lines, '', conclusion(doctor, style)].join('\n')
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

function conclusion({ ok }: Doctor, style: Style): string {
  if (ok) return style.good('this machine can run environments')
  return style.bad('this machine cannot run environments yet')
}
