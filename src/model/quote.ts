import { escapeHidden } from './printable.ts'

const longest = 80

/** A value as it appears inside an error message: quoted, escaped and cut to a readable length. */
export function quote(value: unknown): string {
  // Before it is made longer: a text may have megabytes.
  const text = typeof value === 'string' ? JSON.stringify(value.slice(0, longest + 1)) : told(value)
  const shown = escapeHidden(text)
  return shown.length > longest ? `${shown.slice(0, longest)}…` : shown
}

/** An error message about a value must not fail in turn, whatever the value does. */
function told(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    // Cycles, bigints and what lies too deep have no JSON, and what a caller made may throw anything.
    return typeof value === 'bigint' ? `${value}n` : `a value of type ${typeof value}`
  }
}
