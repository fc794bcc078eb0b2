import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'

export const sources = join(import.meta.dirname, '../programs')

/** The programs in C, as one executable that is told which to be; compiled once for a run of the tests. */
export function compiledPrograms(): string {
  const place = join(process.env.FORKPOINT_HOME ?? '/var/tmp', 'undisturbed-programs')
  if (existsSync(place)) return place
  const files = readdirSync(sources).filter((name) => name.endsWith('.c'))
  // Another worker may be compiling it at the same time.
  const made = `${place}.${process.pid}`
  const warnings = ['-Wall', '-Wextra', '-Werror', '-Wno-missing-field-initializers']
  const options = [...warnings, '-Wno-format-truncation', '-O1', '-pthread', '-o', made]
  execFileSync('cc', [...options, ...files, '-lrt', '-lm'], { cwd: sources, stdio: 'pipe' })
  renameSync(made, place)
  return place
}

export function namesOfCompiled(): string[] {
  return execFileSync(compiledPrograms(), ['list'], { encoding: 'utf8' }).trim().split('\n')
}
