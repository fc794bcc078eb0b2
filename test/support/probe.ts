import { spawnSync } from 'node:child_process'

/** Why a program does not work here, as it reports itself; null if it does. */
export function whyNot(program: string, ...words: string[]): string | null {
  const { status, error, stderr } = spawnSync(program, words, { encoding: 'utf8' })
  if (status === 0) return null
  const said = error?.message ?? stderr.trim()
  return `${[program, ...words].join(' ')}: ${said.split('\n')[0] || `exit code ${status}`}`
}
