import { readFileSync } from 'node:fs'

/** What a process calls itself, and its number inside. */
export interface Command {
  readonly line: string
  readonly pid: number
}

/** The process may be anybody's: what it calls itself is shown, never believed. */
export function commandOf(pid: number): Command | null {
  try {
    const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const inside = Number(/^NSpid:.*\s(\d+)$/m.exec(status)?.[1] ?? pid)
    return { line: line.replaceAll('\0', ' ').trim(), pid: inside }
  } catch {
    return null
  }
}
