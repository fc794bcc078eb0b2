import { type Attribute, parseAttribute } from './attributes.ts'
import { type InterruptedWait, parseWaits } from './waits.ts'

/** What `cell waits` noted about a frozen cell beside its dump. */
export interface Noted {
  readonly waits: readonly InterruptedWait[]
  readonly attributes: readonly Attribute[]
}

export const nothingNoted: Noted = { waits: [], attributes: [] }

/** Lines that begin with a number are waits. */
export function parseNoted(text: string): Noted {
  const lines = text.split('\n').filter(Boolean)
  const isWait = (line: string) => /^\d/.test(line)
  return {
    waits: parseWaits(lines.filter(isWait).join('\n')),
    attributes: lines.filter((line) => !isWait(line)).map(parseAttribute),
  }
}
