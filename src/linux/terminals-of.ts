import { readFileSync, statSync } from 'node:fs'

/** After the parentheses around the name: state, parent, group, session, and the terminal. */
const terminalField = 4

/**
 * On how many terminals these processes run: screens that somebody may look at. One counts if a process reads from
 * it: the shell of `exec` also has a terminal, but nobody types there.
 */
export function terminalsOf(pids: readonly number[]): number {
  return new Set(pids.flatMap(terminalOf)).size
}

function terminalOf(pid: number): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    const terminal = Number(fields[terminalField])
    return terminal !== 0 && statSync(`/proc/${pid}/fd/0`).rdev === terminal ? [terminal] : []
  } catch {
    // It has ended, or has closed its input.
    return []
  }
}
