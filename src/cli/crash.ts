import { writeSync } from 'node:fs'
import { renderError, stackOf } from './render/error.ts'
import { plain } from './render/style.ts'
import { styledLines } from './render/text.ts'

/** The last resort, for an error that no command was waiting for: also that is told in our words. */
export function crash(error: unknown): never {
  try {
    writeSync(2, styledLines(`${renderError(error, plain)}\n`))
    if (process.env.FORKPOINT_DEBUG) writeSync(2, styledLines(`${stackOf(error)}\n`))
  } catch {
    // Nobody listens.
  }
  process.exit(1)
}
