import { escapeHidden } from './printable.ts'

const longest = 80

/** A value as it appears in an error message: quoted, escaped and cut to a readable length. */
export function quote(value: unknown): string {
  // Cut before escaping: a text may have megabytes.
  const text =
    typeof value === 'string' ? JSON.stringify(value.slice(0, longest + 1)) : describe(value)
  const shown = escapeHidden(text)
  return shown.length > longest ? `${shown.slice(0, longest)}…` : shown
}

/** Never throws, whatever the value does: it is used in error messages. */
function describe(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    // Cycles, bigints and deep nesting have no JSON, and the caller's object may throw anything.
    return typeof value === 'bigint' ? `${value}n` : `a value of type ${typeof value}`
  }
}
