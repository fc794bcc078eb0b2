import { printable } from '../../../model/text/printable.ts'
import type { Style } from './style.ts'
import { width } from './text.ts'

/** One fact per line, values aligned. */
export function keyValues(facts: readonly (readonly [string, string])[], style: Style): string {
  const widest = Math.max(0, ...facts.map(([key]) => width(key)))
  return facts
    .map(([key, value]) => `${style.faint(key.padEnd(widest))}  ${printable(value)}`.trimEnd())
    .join('\n')
}
