const inks = 8

/** The ink of an environment: the same wherever it appears, and after a reload. */
export function inkOf(id: string): string {
  let sum = 0
  for (const character of id) sum = (sum * 31 + character.charCodeAt(0)) >>> 0
  return `var(--ink-${sum % inks})`
}
