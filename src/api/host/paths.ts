import { InvalidInputError } from '../../model/errors.ts'
import { quote } from '../../model/text/quote.ts'

/** A name that is empty, `.` or `..`, or a NUL. */
const notPlain = /(?:^|\/)\.{0,2}(?:\/|$)|\0/

/** Refuses a path from inside or from a plan that would lead out of a directory. */
export function requirePlain(path: string): void {
  if (!notPlain.test(path)) return
  throw new InvalidInputError(`not a path below a directory: ${quote(path)}`, {
    remedy: 'look at the environment with diff; something inside may have tampered with it',
  })
}

/** Splits such a path. */
export function namesOf(path: string): string[] {
  requirePlain(path)
  return path.split('/')
}
