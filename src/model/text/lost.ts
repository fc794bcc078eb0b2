import type { Lost } from '../snapshot.ts'

/** One line for people: whose it is, what it is, and what follows. */
export function lostInWords({ process, object, what, consequence }: Lost): string {
  const whose = process === null ? '' : `${process.command} (${process.pid}): `
  return `${whose}${object} ${what}: ${consequence}`
}
