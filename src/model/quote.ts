const longest = 80

/** A value as it appears inside an error message: quoted, escaped and cut to a readable length. */
export function quote(value: unknown): string {
  const text =
    typeof value === 'string' ? JSON.stringify(value) : (safeJson(value) ?? String(value))
  return text.length > longest ? `${text.slice(0, longest)}…` : text
}

function safeJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    // Cycles and bigints have no JSON; an error message about them must not fail in turn.
    return undefined
  }
}
