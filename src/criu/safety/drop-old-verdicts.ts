import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** A verdict, or the draft of one. */
const ourName = /^v\d+-[0-9a-f]{32}(\.\d+)?$/

/** Keeps the newest verdicts, and makes room for some more. */
export function dropOldVerdicts(
  directory: string,
  { entries, ageMs }: { readonly entries: number; readonly ageMs: number },
): void {
  const names = readdirSync(directory).filter((name) => ourName.test(name))
  const aged = names.map((name) => ({ name, ms: modifiedMs(join(directory, name)) }))
  const kept = aged
    .filter(({ ms }) => ms > Date.now() - ageMs)
    .sort((a, b) => b.ms - a.ms)
    .slice(0, Math.floor((entries * 3) / 4))
  const isKept = new Set(kept.map(({ name }) => name))
  for (const { name } of aged) {
    if (!isKept.has(name)) rmSync(join(directory, name), { force: true })
  }
}

/** A verdict that another process has just removed counts as the oldest. */
function modifiedMs(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}
