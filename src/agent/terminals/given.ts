import { InvalidInputError } from '../../model/errors.ts'
import { quote } from '../../model/quote.ts'
import type { CallOptions } from '../wire/connection.ts'
import type { TerminalSize } from './terminals.ts'

// What callers hand to the handles of commands and terminals, which is checked before it is used.

/** As many rows or columns as a terminal can have. */
const mostCells = 65_535

export function givenOptions(options: unknown): CallOptions {
  if (options === undefined) return {}
  const signal = field(options, 'signal')
  if (signal === undefined || signal instanceof AbortSignal) return { signal }
  throw new InvalidInputError(`not options: ${quote(options)}`, {
    remedy: 'give an object such as { signal }, or nothing',
  })
}

export function givenSize(size: unknown): TerminalSize {
  const [cols, rows] = [field(size, 'cols'), field(size, 'rows')]
  if (isCount(cols) && isCount(rows)) return { cols, rows }
  throw new InvalidInputError(`not the size of a terminal: ${quote(size)}`, {
    remedy: `give { cols, rows }, each 1 to ${mostCells}`,
  })
}

/** Null where there can be none: it is no object, or one of the caller's own that throws. */
function field(given: unknown, name: string): unknown {
  if (typeof given !== 'object' || given === null) return null
  try {
    return (given as Readonly<Record<string, unknown>>)[name]
  } catch {
    return null
  }
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= mostCells
}
