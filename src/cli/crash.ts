import { writeSync } from 'node:fs'
import { renderError, stackOf } from './render/error.ts'
import { plain } from './render/layout/style.ts'
import { styledLines } from './render/layout/text.ts'

/** The last resort, which reports an error that no command was waiting for like any other. */
export function crash(error: unknown): never {
  try {
    writeSync(2, styledLines(`${renderError(error, plain)}\n`))
    if (process.env.FORKPOINT_DEBUG) writeSync(2, styledLines(`${stackOf(error)}\n`))
  } catch {
    // Nobody is left to read it.
  }
  process.exit(1)
}
