import { InvalidInputError } from '../../model/errors.ts'
import { quote } from '../../model/text/quote.ts'
import type { CallOptions } from '../wire/connection.ts'
import type { TerminalSize } from './size.ts'

// Checks what callers pass to the handles of commands and terminals.

/** The most rows or columns that a terminal can have. */
const maxCells = 65_535

export function givenOptions(options: unknown): CallOptions {
  if (options === undefined) return {}
  const signal = field(options, 'signal')
  if (signal === undefined || signal instanceof AbortSignal) return { signal }
  throw new InvalidInputError(`not options: ${quote(options)}`, {
    remedy: 'pass an object such as { signal }, or nothing',
  })
}

export function givenSize(size: unknown): TerminalSize {
  const [cols, rows] = [field(size, 'cols'), field(size, 'rows')]
  if (isCount(cols) && isCount(rows)) return { cols, rows }
  throw new InvalidInputError(`not the size of a terminal: ${quote(size)}`, {
    remedy: `give { cols, rows }, each from 1 to ${maxCells}`,
  })
}

/** Null if it cannot be read. */
function field(given: unknown, name: string): unknown {
  if (typeof given !== 'object' || given === null) return null
  try {
    return (given as Readonly<Record<string, unknown>>)[name]
  } catch {
    // The object has a getter that throws: its field is invalid.
    return null
  }
}

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) >= 1 && Number(value) <= maxCells
}
