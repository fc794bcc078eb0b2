import { constants } from 'node:os'
import { InvalidInputError } from '../../model/errors.ts'
import { quote } from '../../model/text/quote.ts'
import { type Fields, need } from '../wire/fields.ts'

/** How a process ended: an exit code, or the signal that ended it. */
export interface ExitStatus {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
}

const numbers = new Map<string, number>(Object.entries(constants.signals))
// If two names share a number (SIGABRT and SIGIOT), the first is the usual one.
const names = new Map<number, NodeJS.Signals>()
for (const [name, number] of numbers) {
  if (!names.has(number)) names.set(number, name as NodeJS.Signals)
}

export function signalNumber(signal: NodeJS.Signals): number {
  const number = numbers.get(signal)
  if (number !== undefined) return number
  throw new InvalidInputError(`not a signal: ${quote(signal)}`, {
    remedy: 'use a name such as SIGTERM, SIGINT or SIGKILL',
  })
}

/** Reads `exitCode` or `signal`. A real-time signal has no name and becomes an exit code, as in a shell. */
export function readExitStatus(fields: Fields): ExitStatus {
  if (fields.signal === undefined) return { exitCode: need(fields, 'exitCode'), signal: null }
  const name = names.get(fields.signal)
  if (name === undefined) return { exitCode: 128 + fields.signal, signal: null }
  return { exitCode: null, signal: name }
}
