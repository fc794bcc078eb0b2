import { readdirSync } from 'node:fs'
import { ifExists } from './if-exists.ts'

/** The names in a directory; empty if it does not exist. */
export function namesIn(dir: string): string[] {
  return ifExists(() => readdirSync(dir)) ?? []
}
