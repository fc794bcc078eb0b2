import { readFileSync } from 'node:fs'
import { quote } from '../model/quote.ts'

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
    return { line: line.replaceAll('\0', ' ').trim(), pid: pidInside(status) ?? pid }
  } catch {
    return null
  }
}

/** The number that a process has inside, from its /proc/PID/status. */
export function pidInside(status: string): number | null {
  const number = /^NSpid:.*\s(\d+)$/m.exec(status)?.[1]
  return number === undefined ? null : Number(number)
}

/** A process in a sentence. */
export function inWords(command: Command | null): string {
  return command === null ? 'a process' : `${quote(command.line)} (pid ${command.pid} inside)`
}
