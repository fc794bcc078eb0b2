// The program of the attacks (../program): compiled once for a run of the tests.
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'

const sources = join(import.meta.dirname, '../program')

/** Statically linked, so that it runs in every root file system. */
export function attackProgram(): string {
  const place = join(process.env.FORKPOINT_HOME ?? '/var/tmp', 'attacks')
  if (existsSync(place)) return place
  const files = readdirSync(sources).filter((name) => name.endsWith('.c'))
  // Another worker may be compiling it at the same time.
  const made = `${place}.${process.pid}`
  const warnings = ['-Wall', '-Wextra', '-Werror', '-Wno-unused-parameter']
  const options = [...warnings, '-Wno-missing-field-initializers', '-O1', '-static', '-o', made]
  execFileSync('cc', [...options, ...files], { cwd: sources, stdio: ['ignore', 'pipe', 'pipe'] })
  renameSync(made, place)
  return place
}

/** The attacks, or the poses, that the program knows. */
export function programAttacks(what: 'list' | 'poses'): string[] {
  const text = execFileSync(attackProgram(), [what], { encoding: 'utf8' })
  return text.trim().split('\n')
}
