import { createInterface } from 'node:readline/promises'
import { InvalidInputError } from '../model/errors.ts'
import { printable } from '../model/text/printable.ts'
import type { Context } from './context.ts'

/** What a person must agree to, and what a script must write instead. */
export interface Question {
  /** as a statement: it is the error where nobody can answer */
  readonly what: string
  readonly remedy: string
}

/**
 * Asks the person at the terminal. Without one, or with `--json`, it refuses with the statement and the remedy.
 */
export async function requireConsent(
  { globals, streams: { stderr } }: Context,
  { what, remedy }: Question,
): Promise<void> {
  const refused = new InvalidInputError(what, { remedy })
  if (globals.json || process.stdin.isTTY !== true || stderr.isTTY !== true) throw refused
  const lines = createInterface({ input: process.stdin, output: stderr })
  try {
    const answer = await lines.question(`${printable(what)}. Continue? [y/N] `)
    if (!/^y(es)?$/i.test(answer.trim())) throw refused
  } finally {
    lines.close()
  }
}
